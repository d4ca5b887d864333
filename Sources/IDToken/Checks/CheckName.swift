/// The name of a check in explanations of a verification, in the order of the checks.
///
/// Every entry of ``IDTokenVerifier``'s list has one. ``tokenForm``, ``provider`` and ``key`` occur in explanations
/// only.
public enum CheckName: String, CaseIterable, Sendable {
    /// Whether the text is a well-formed token. Comes before all other checks.
    case tokenForm = "token_form"
    /// Whether a configured provider was found for the token.
    case provider
    case header
    case algorithm
    /// Whether the provider has published a key for the token. The verifier checks this together with the signature;
    /// explanations report it separately, because the causes differ.
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
    /// Whether the claims yield an ``Identity``.
    case identity
    case nonce
    case tokenKind = "token_kind"
    case atHash = "at_hash"
    case cHash = "c_hash"
    case expectedSubject = "expected_subject"
}
