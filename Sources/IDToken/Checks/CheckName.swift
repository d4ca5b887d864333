/// The name of a check in explanations of a verification, in the order of an ID Token's checks.
///
/// Every check of ID Tokens, access tokens and notifications has one. ``tokenForm``, ``provider``, ``key`` and a policy's requirements
/// occur only in explanations.
public enum CheckName: String, Sendable {
    /// Whether the text is a well-formed token. Comes before all other checks.
    case tokenForm = "token_form"
    /// Whether a configured provider was found for the token.
    case provider
    /// Whether the provider says that an opaque access token is active.
    case active
    case header
    case algorithm
    /// Whether the configured load balancer signed the assertion.
    case signer
    /// Whether the provider has published a key for the token. The verifier checks this together with the signature;
    /// explanations report it separately, because the causes differ.
    case key
    case signature
    case issuer
    case keyIssuer = "key_issuer"
    case audience
    case authorizedParty = "authorized_party"
    /// Which client an access token was issued to.
    case client
    case expiry
    case notBefore = "not_before"
    case issuedAt = "issued_at"
    case tokenAge = "token_age"
    /// Whether a notification has an ID, by which repeated deliveries are recognized.
    case tokenID = "token_id"
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
    /// Whether the sender of an access token that is bound to a key is known to have it.
    case binding
    /// Whether an access token grants every scope that the request needs.
    case scopes
    /// Whether the token grants every scope that a gateway's policy requires.
    case policyScopes = "policy_scopes"
    case policyClaims = "policy_claims"
    case policyEmail = "policy_email"
    case policyAge = "policy_age"
    /// Whether the header fields for the backend fit into a response.
    case policyHeaders = "policy_headers"
}

extension CheckName {
    /// The checks in explanations of ID Tokens, in the verifier's order.
    public static let ofIDTokens: [CheckName] = [
        .tokenForm, .provider, .header, .algorithm, .key, .signature, .issuer, .keyIssuer, .audience, .authorizedParty,
        .expiry, .notBefore, .issuedAt, .tokenAge, .authTime, .authenticatedAfter, .subject, .events, .requiredClaims,
        .claimValues, .serviceAccount, .identity, .nonce, .tokenKind, .atHash, .cHash, .expectedSubject,
    ]
    /// The checks in explanations of access tokens, in the verifier's order.
    public static let ofAccessTokens: [CheckName] = [
        .tokenForm, .provider, .header, .algorithm, .signer, .key, .signature, .issuer, .keyIssuer, .tokenKind,
        .audience, .client, .expiry, .notBefore, .issuedAt, .tokenAge, .authenticatedAfter, .subject, .requiredClaims,
        .claimValues, .serviceAccount, .identity, .expectedSubject, .binding, .scopes,
    ]
    /// The checks in explanations of opaque access tokens, in the verifier's order.
    public static let ofOpaqueTokens: [CheckName] = [
        .tokenForm, .provider, .active, .issuer, .audience, .client, .expiry, .notBefore, .issuedAt, .tokenAge,
        .authenticatedAfter, .subject, .requiredClaims, .claimValues, .serviceAccount, .identity, .expectedSubject,
        .binding, .scopes,
    ]
    /// The checks in explanations of notifications, in the verifier's order.
    public static let ofNotifications: [CheckName] = [
        .tokenForm, .provider, .header, .algorithm, .key, .signature, .issuer, .keyIssuer, .audience, .events, .expiry,
        .notBefore, .issuedAt, .tokenAge, .tokenID, .nonce, .subject,
    ]
}

/// Observes the checks of a verification. It receives each check by name, in order, and decides whether to continue
/// after a failure.
package protocol CheckObserver {
    /// Runs a check.
    ///
    /// - Parameters:
    ///   - isEnabled: whether the settings or the request ask for the check.
    ///   - input: the result of an earlier check; `nil` if that check failed.
    ///   - rule: the check itself.
    /// - Returns: the result of the check; `nil` if it was not run, or if it failed and the verification continues.
    /// - Throws: the rule's rejection, if the verification ends here.
    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value?
}

extension CheckObserver {
    /// Runs a check that needs no result of an earlier one.
    @inline(__always)
    @discardableResult
    package func check<Value>(
        _ name: CheckName, if isEnabled: Bool = true, _ rule: @autoclosure () throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: { () }, rule: { () throws(Rejection) in try rule() })
    }

    /// Runs a check that needs the result of an earlier one.
    @inline(__always)
    @discardableResult
    package func check<Input, Value>(
        _ name: CheckName, if isEnabled: Bool = true, given input: @autoclosure () -> Input?,
        _ rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        try check(name, isEnabled: isEnabled, input: input, rule: rule)
    }
}

/// Ends a verification at the first check that fails. Compiles to the bare checks once specialized and inlined.
package struct FirstFailure: CheckObserver {
    package init() {}

    @inline(__always)
    package func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isEnabled else { return nil }
        // With this observer, an earlier failure has already thrown, so the input exists. A check that can't run must
        // not pass.
        guard let input = input() else { throw .cryptographyUnavailable }
        return try rule(input)
    }
}
