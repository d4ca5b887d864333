package import JOSE

/// An opaque access token whose issuer says that it is active, and that has passed every check of a request. Only
/// ``JOSE/JWSVerifier`` creates one.
// A class, because it is passed through many functions: each copy of a struct would retain all of its parts.
package final class IntrospectedToken: Sendable {
    /// The user or machine that the token belongs to; `nil` if the issuer names none.
    package let identity: Identity?
    package let authorization: Authorization
    /// `aud`; empty for providers whose tokens are checked by their client or scopes instead.
    package let audiences: [String]
    /// `azp`.
    package let authorizedParty: String?
    package let issuedAt: UnixTime?
    /// `nil` if the issuer does not say when the token expires.
    package let expiresAt: UnixTime?
    package let notBefore: UnixTime?
    package let authTime: UnixTime?
    package let tokenID: String?
    package let sessionID: String?
    package let authenticationContextClass: String?
    package let authenticationMethods: [String]
    fileprivate let introspected: IntrospectedClaims

    /// Everything that the issuer says of the token, as one JSON object.
    package var claimsText: ArraySlice<UInt8> { introspected.text }

    fileprivate init(
        identity: Identity?, authorization: Authorization, audiences: [String],
        issuedAt: UnixTime?, expiresAt: UnixTime?, notBefore: UnixTime?, authTime: UnixTime?,
        _ introspected: IntrospectedClaims
    ) {
        let claims = introspected.claims
        self.identity = identity
        self.authorization = authorization
        self.audiences = audiences
        authorizedParty = claims.text(.authorizedParty)
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.authTime = authTime
        (tokenID, sessionID, authenticationContextClass, authenticationMethods) = claims.session
        self.introspected = introspected
    }
}

/// An issuer's statement about an active token.
package struct IntrospectedClaims: Sendable {
    package let claims: Claims
    /// The same as text.
    let text: ArraySlice<UInt8>

    /// - Returns: `nil` unless the text is one JSON object.
    package init?(_ text: [UInt8]) {
        guard let object = try? JSONObject(text) else { return nil }
        claims = Claims(object)
        self.text = text[...]
    }
}

/// Checks what an issuer says of a token: all of it when a token is first accepted, and on later uses only what depends
/// on the request or on the time.
///
/// - Source: RFC 7662, section 4.
extension JWSVerifier {
    /// Throws at the first check that fails.
    ///
    /// - Parameters:
    ///   - token: the token itself, which a DPoP proof names by its hash.
    ///   - policy: its audiences are the API's own identifiers, and its authorized parties are clients.
    ///   - now: the current time.
    /// - Returns: also how the key was proven that the token is bound to; `nil` if it is bound to none.
    /// - Throws: ``Rejection``.
    package func checkOpaqueToken(
        _ token: ArraySlice<UInt8>, saidToHave introspected: IntrospectedClaims, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime
    ) throws(Rejection) -> (token: IntrospectedToken, binding: TokenBinding?) {
        let checked = try runOpaqueTokenChecks(
            on: token, saidToHave: introspected, under: policy, dialect, expecting: parameters, now: now,
            watchedBy: FirstFailure())
        // Unreachable: `FirstFailure` throws when a check fails.
        guard let checked else { throw .cryptographyUnavailable }
        return checked
    }

    /// Checks a token again that has passed ``checkOpaqueToken(_:saidToHave:under:_:expecting:now:)`` before, under the
    /// same policy and dialect: the same verdict, for a tenth of the instructions.
    ///
    /// Only the checks that depend on the request or on the time are made, in the same order. The others can't have
    /// another result.
    ///
    /// - Parameters:
    ///   - text: the token itself.
    ///   - now: the current time.
    /// - Returns: how the key was proven that the token is bound to; `nil` if it is bound to none.
    /// - Throws: ``Rejection``.
    package func checkAgain(
        _ token: IntrospectedToken, _ text: ArraySlice<UInt8>, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime
    ) throws(Rejection) -> TokenBinding? {
        let claims = token.introspected.claims
        if let audience = parameters.audience {
            _ = try checkIntrospectedAudience(claims, policy, dialect, narrowedTo: audience)
        }
        _ = try runTimeChecks(on: claims, under: policy, expecting: parameters, now: now, watchedBy: FirstFailure())
        if let expected = parameters.expectedSubject { try checkExpectedSubject(token.identity, expected) }
        let binding = try checkBinding(claims, of: text, policy, dialect, parameters.evidence, now: now)
        try token.authorization.check(contains: parameters.scopes)
        return binding
    }

    /// The only list of checks of opaque tokens. They are those of JWT access tokens, but for what only a JWT has, and
    /// members that RFC 7662 makes optional may be absent. `null` and an empty string count as absent, because some
    /// servers send them.
    ///
    /// Those that depend on the request or on the time are also in ``checkAgain(_:_:under:_:expecting:now:)``.
    ///
    /// - Returns: with ``FirstFailure``, the token; with other observers, `nil` if a check failed.
    /// - Throws: the rejection with which the observer ends the verification.
    package func runOpaqueTokenChecks<Observer: CheckObserver>(
        on token: ArraySlice<UInt8>, saidToHave introspected: IntrospectedClaims, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime,
        watchedBy observer: Observer
    ) throws(Rejection) -> (token: IntrospectedToken, binding: TokenBinding?)? {
        let claims = introspected.claims

        let issuer = try observer.check(.issuer, if: claims.hasValue(.issuer), checkIssuer(claims, policy))
        let audiences = try observer.check(
            .audience, checkIntrospectedAudience(claims, policy, dialect, narrowedTo: parameters.audience))
        let client = try observer.check(.client, checkIntrospectedClient(claims, policy))
        let times = try runTimeChecks(on: claims, under: policy, expecting: parameters, now: now, watchedBy: observer)
        let namesSubject = claims.hasValue(.subject)
        let subject = try observer.check(.subject, if: namesSubject, checkSubject(claims, policy))
        try observer.check(
            .requiredClaims, if: !policy.requiredClaims.isEmpty, checkRequiredClaims(claims, policy))
        try observer.check(.claimValues, if: !policy.claimRules.isEmpty, checkClaimValues(claims, policy))
        try observer.check(
            .serviceAccount, if: policy.serviceAccounts.isActive,
            checkServiceAccount(claims, policy, subject: subject ?? ""))
        let identity = try observer.check(.identity, if: namesSubject, given: subject) { subject throws(Rejection) in
            try Identity(claims, issuer: issuer ?? policy.issuer, subject: subject, policy, clientName: nil)
        }
        try observer.check(
            .expectedSubject, if: parameters.expectedSubject != nil,
            checkExpectedSubject(identity, parameters.expectedSubject))
        let binding = try observer.check(
            .binding, checkBinding(claims, of: token, policy, dialect, parameters.evidence, now: now))
        let authorization = try observer.check(
            .scopes,
            checkScopes(
                claims, client: client ?? nil, dialect, contain: dialect.requiredScopes + parameters.scopes))

        guard let authorization, let audiences, let binding else { return nil }
        let token = IntrospectedToken(
            identity: identity, authorization: authorization, audiences: audiences, issuedAt: times.issuedAt,
            expiresAt: times.expiresAt, notBefore: times.notBefore, authTime: try? claims.time(.authTime), introspected)
        return (token, binding)
    }

    /// The checks of a token's times, all of which depend on when it is used.
    @inline(__always)
    private func runTimeChecks<Observer: CheckObserver>(
        on claims: Claims, under policy: ProviderPolicy, expecting parameters: AccessTokenParameters, now: UnixTime,
        watchedBy observer: Observer
    ) throws(Rejection) -> (expiresAt: UnixTime?, notBefore: UnixTime?, issuedAt: UnixTime?) {
        let expiresAt = try observer.check(
            .expiry, if: claims.hasValue(.expiration), checkExpiration(claims, policy, now: now))
        let notBefore = try observer.check(
            .notBefore, if: claims.hasValue(.notBefore), checkNotBefore(claims, policy, now: now))
        let (maximumAge, revokedAt) = (policy.maximumTokenAgeSeconds, parameters.authenticatedAfter)
        let needsIssuedAt = maximumAge != nil || revokedAt != nil
        let issuedAt = try observer.check(
            .issuedAt, if: needsIssuedAt || claims.hasValue(.issuedAt),
            checkIntrospectedIssuedAt(claims, policy, now: now))
        try observer.check(.tokenAge, if: maximumAge != nil, given: issuedAt) { issuedAt throws(Rejection) in
            try checkTokenAge(issuedAt: issuedAt, atMost: maximumAge, policy, now: now)
        }
        try observer.check(.authenticatedAfter, if: revokedAt != nil, given: issuedAt) {
            issuedAt throws(Rejection) in
            try checkSessionRevocation(claims, policy, after: revokedAt, issuedAt: issuedAt, now: now)
        }
        return (expiresAt, notBefore ?? nil, issuedAt)
    }
}

/// Checks that the token is for this API, and returns `aud`.
///
/// If no audience is configured, the token must have none; its client or its scopes then tie it to this API.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``,
///   ``Rejection/audienceNotExpected``.
private func checkIntrospectedAudience(
    _ claims: Claims, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect, narrowedTo audience: String?
) throws(Rejection) -> [String] {
    guard policy.audiences.isEmpty else {
        return try checkResourceAudience(claims, policy, dialect, narrowedTo: audience)
    }
    guard try claims.audiences().isEmpty else { throw .audienceMismatch }
    return []
}

/// Checks which client the token was issued to, and returns its ID; `nil` if the issuer names none.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/authorizedPartyMismatch``.
private func checkIntrospectedClient(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String? {
    let client = claims.hasValue(.clientID) ? try claims.string(.clientID) : nil
    try checkIsAuthorized(client, policy)
    return client
}

/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
private func checkIntrospectedIssuedAt(
    _ claims: Claims, _ policy: ProviderPolicy, now: UnixTime
) throws(Rejection) -> UnixTime {
    guard claims.hasValue(.issuedAt) else { throw .claimMissing(.issuedAt) }
    return try checkIssuedAt(claims, policy, now: now)
}

/// - Parameter identity: `nil` if the issuer names nobody, who is not the expected user either.
/// - Throws: ``Rejection/subjectMismatch``.
private func checkExpectedSubject(_ identity: Identity?, _ expected: ExpectedSubject?) throws(Rejection) {
    guard let identity else { throw .subjectMismatch }
    try checkExpectedSubject(identity, expected)
}
