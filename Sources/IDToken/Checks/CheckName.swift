/// The name of a check, as explanations of a verification give it, in the order of the checks.
///
/// Every line of the verifier's list has one. ``tokenForm``, ``provider`` and ``key`` occur in explanations only.
public enum CheckName: String, CaseIterable, Sendable {
    /// Whether the text is a token, which comes before all checks of what it says.
    case tokenForm = "token_form"
    /// Whether a provider was found to verify the token by.
    case provider
    case header
    case algorithm
    /// Whether the provider has published a key for the token: to people another thing than a signature that does not hold, to
    /// the verifier the first half of the same check.
    case key
    case signature
    case issuer
    case keyIssuer = "key_issuer"
    case audience
    case authorizedParty = "authorized_party"
    case expiry
    case notBefore = "not_before"
    case issuedAt = "issued_at"
    case tokenAge = "token_age"
    case authTime = "auth_time"
    case authenticatedAfter = "authenticated_after"
    case subject
    case events
    case requiredClaims = "required_claims"
    case claimValues = "claim_values"
    case serviceAccount = "service_account"
    /// Whether an ``Identity`` can be made of the claims.
    case identity
    case nonce
    case tokenKind = "token_kind"
    case atHash = "at_hash"
    case cHash = "c_hash"
    case expectedSubject = "expected_subject"
}
