package import JOSE
package import OpenSSL

extension IDTokenVerifier {
    /// The only list of checks, in the contract's order: header, algorithm, key, signature, then every claim. To see
    /// more than the first failure, pass another observer.
    ///
    /// The values after `??` are for observers that continue after a failure. They replace the value that the failed
    /// check did not return.
    ///
    /// - Returns: what the checks found. With ``FirstFailure``, this includes the verified token.
    /// - Throws: the rejection with which the observer ends the verification.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 8725.
    @inline(__always)
    package func runChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        expecting signIn: VerificationParameters, now: UnixTime, watchedBy observer: Observer
    ) throws(Rejection) -> CheckResults<VerifiedIDToken> {
        let (claims, checker) = (token.claims, jwsVerifier.checker)

        let algorithm = try jwsVerifier.runHeaderChecks(
            on: token, allowing: policy.algorithms ?? algorithms, type: checkTokenType, watchedBy: observer)
        let jws = try observer.check(.signature, given: algorithm) { algorithm throws(Rejection) in
            try jwsVerifier.checkSignature(token.jws, keys, algorithm)
        }

        let issuer = try observer.check(.issuer, checkIssuer(claims, policy))
        try observer.check(.keyIssuer, if: !policy.keyIssuers.isEmpty, given: jws) { jws throws(Rejection) in
            try checkKeyIssuer(jws.keyIssuer, claims, policy)
        }
        let audiences = try observer.check(.audience, checkAudience(claims, policy, narrowedTo: signIn.audience))
        let authorizedParty = try observer.check(.authorizedParty, checkAuthorizedParty(claims, policy))
        let expiresAt = try observer.check(.expiry, checkExpiration(claims, policy, now: now))
        let notBefore = try observer.check(.notBefore, checkNotBefore(claims, policy, now: now))
        let issuedAt =
            try observer.check(.issuedAt, checkIssuedAt(claims, policy, now: now))
            ?? (try? claims.time(.issuedAt))
        try observer.check(.tokenAge, if: policy.maximumTokenAgeSeconds != nil, given: issuedAt) {
            issuedAt throws(Rejection) in
            try checkTokenAge(issuedAt: issuedAt, atMost: policy.maximumTokenAgeSeconds, policy, now: now)
        }
        let maximumAge = signIn.maximumAuthenticationAgeSeconds
        let authTime = try observer.check(
            .authTime, given: issuedAt ?? (maximumAge == nil || claims.contains(.authTime) ? now : nil)
        ) { issuedAt throws(Rejection) in
            try checkAuthenticationAge(
                claims, policy, atMost: maximumAge, isRequired: signIn.requiresAuthenticationTime, issuedAt: issuedAt,
                countedFrom: signIn.authenticationAgeIsCountedFrom, now: now)
        }
        try observer.check(.authenticatedAfter, if: signIn.authenticatedAfter != nil, given: issuedAt) {
            issuedAt throws(Rejection) in
            try checkSessionRevocation(
                claims, policy, after: signIn.authenticatedAfter, issuedAt: issuedAt, now: now)
        }
        let subject = try observer.check(.subject, checkSubject(claims, policy))
        try observer.check(.events, checkNoEvents(claims))
        try observer.check(
            .requiredClaims, if: !policy.requiredClaims.isEmpty, checkRequiredClaims(claims, policy))
        try observer.check(.claimValues, if: !policy.claimRules.isEmpty, checkClaimValues(claims, policy))
        try observer.check(
            .serviceAccount, if: policy.serviceAccounts.isActive,
            checkServiceAccount(claims, policy, subject: subject ?? claims.text(.subject) ?? ""))
        let identity = try observer.check(
            .identity,
            Identity(
                claims, issuer: issuer ?? policy.issuer, subject: subject ?? "", policy, clientName: signIn.clientName))
        let nonceMatch = try observer.check(
            .nonce, checkNonce(claims, policy.nonce, expected: signIn.nonce, checker, use: signIn.nonceUse))
        try observer.check(
            .tokenKind, if: policy.detectsAccessTokens(claims, nonce: signIn.nonce, use: signIn.nonceUse),
            checkTokenKind(claims))
        try observer.check(
            .atHash, if: signIn.accessToken != nil, given: token.hashAlgorithm(jws)
        ) { digest throws(Rejection) in
            try checkHash(
                in: .accessTokenHash, claims, of: signIn.accessToken, isOptional: signIn.isAccessTokenHashOptional,
                by: digest, checker, faults: (.atHashMissing, .atHashMismatch))
        }
        try observer.check(.cHash, if: signIn.code != nil, given: token.hashAlgorithm(jws)) {
            digest throws(Rejection) in
            try checkHash(
                in: .codeHash, claims, of: signIn.code, isOptional: signIn.isCodeHashOptional, by: digest, checker,
                faults: (.cHashMissing, .cHashMismatch))
        }
        try observer.check(.expectedSubject, if: signIn.expectedSubject != nil, given: identity) {
            identity throws(Rejection) in
            try checkExpectedSubject(identity, signIn.expectedSubject)
        }

        // `FirstFailure` has already thrown if a check failed. Other observers never produce a verified token.
        guard Observer.self == FirstFailure.self, let jws, let audiences, let authorizedParty, let expiresAt,
            let notBefore, let issuedAt, let authTime, let identity, let nonceMatch
        else { return CheckResults(token: nil, jws: jws, nonceMatch: nonceMatch ?? nil) }
        let verified = VerifiedIDToken(
            identity: identity, audiences: audiences, authorizedParty: authorizedParty, expiresAt: expiresAt,
            notBefore: notBefore, issuedAt: issuedAt, authTime: authTime, claims: claims, jws: jws,
            nonceMatch: nonceMatch)
        return CheckResults(token: verified, jws: jws, nonceMatch: nonceMatch)
    }
}

/// The results of a verification's checks.
package struct CheckResults<Token> {
    let token: Token?
    /// `nil` if the signature was not verified.
    package let jws: VerifiedJWS?
    /// `nil` if no nonce was compared, or it did not match.
    package var nonceMatch: NonceMatch?

    /// What passed every check.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable``, but never with ``FirstFailure``, which throws when a check
    ///   fails.
    func verified() throws(Rejection) -> Token {
        guard let token else { throw .cryptographyUnavailable }
        return token
    }
}

extension UnverifiedToken {
    /// The hash function of `at_hash` and `c_hash`. If no key has verified the token, EdDSA is assumed to mean Ed25519.
    package func hashAlgorithm(_ jws: VerifiedJWS?) -> DigestAlgorithm? {
        jws?.tokenHash ?? algorithm?.tokenHash(edwardsCurve: nil)
    }
}

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
