private import Bytes
package import JOSE

extension JWSVerifier {
    /// The only list of checks of access tokens: header, algorithm, key, signature, then every claim. An observer can
    /// record all failures instead of only the first.
    ///
    /// The values after `??` are for observers that continue after a failure.
    ///
    /// - Returns: what the checks found. With ``FirstFailure``, this includes the verified token.
    /// - Throws: the rejection with which the observer ends the verification.
    /// - Source: RFC 9068, section 4; RFC 8725, section 3.12.
    @inline(__always)
    package func runAccessTokenChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime,
        watchedBy observer: Observer
    ) throws(Rejection) -> CheckResults<VerifiedAccessToken> {
        let claims = token.claims

        let algorithm = try runAccessTokenHeaderChecks(
            on: token, allowing: policy.algorithms ?? algorithms, dialect, watchedBy: observer)
        let jws = try observer.check(.signature, given: algorithm) { algorithm throws(Rejection) in
            try checkSignature(token.jws, keys, algorithm)
        }

        let issuer = try observer.check(.issuer, checkIssuer(claims, policy))
        try observer.check(.keyIssuer, if: !policy.keyIssuers.isEmpty, given: jws) { jws throws(Rejection) in
            try checkKeyIssuer(jws.keyIssuer, claims, policy)
        }
        try observer.check(.tokenKind, checkIsAccessToken(token, dialect))
        let audiences = try observer.check(
            .audience, checkResourceAudience(claims, policy, dialect, narrowedTo: parameters.audience))
        let client = try observer.check(.client, checkClient(token, policy, dialect))
        let expiresAt = try observer.check(.expiry, checkExpiration(claims, policy, now: now))
        let notBefore = try observer.check(.notBefore, checkNotBefore(claims, policy, now: now))
        let (maximumAge, revokedAt) = (policy.maximumTokenAgeSeconds, parameters.authenticatedAfter)
        // A load balancer's assertion has no iat. It passes only if no setting or parameter needs one.
        let mayLackIssuedAt = dialect.loadBalancer != nil && maximumAge == nil && revokedAt == nil
        let issuedAt = try observer.check(
            .issuedAt, if: !mayLackIssuedAt || claims.contains(.issuedAt), checkIssuedAt(claims, policy, now: now))
        try observer.check(.tokenAge, if: maximumAge != nil, given: issuedAt) { issuedAt throws(Rejection) in
            try checkTokenAge(issuedAt: issuedAt, atMost: maximumAge, policy, now: now)
        }
        try observer.check(.authenticatedAfter, if: revokedAt != nil, given: issuedAt) {
            issuedAt throws(Rejection) in
            try checkSessionRevocation(claims, policy, after: revokedAt, issuedAt: issuedAt, now: now)
        }
        let subject = try observer.check(.subject, checkUserOrMachine(claims, policy, dialect))
        try observer.check(
            .requiredClaims, if: !policy.requiredClaims.isEmpty, checkRequiredClaims(claims, policy))
        try observer.check(.claimValues, if: !policy.claimRules.isEmpty, checkClaimValues(claims, policy))
        try observer.check(
            .serviceAccount, if: policy.serviceAccounts.isActive,
            checkServiceAccount(claims, policy, subject: subject ?? ""))
        let identity = try observer.check(
            .identity,
            Identity(claims, issuer: issuer ?? policy.issuer, subject: subject ?? "", policy, clientName: nil))
        try observer.check(.expectedSubject, if: parameters.expectedSubject != nil, given: identity) {
            identity throws(Rejection) in
            try checkExpectedSubject(identity, parameters.expectedSubject)
        }
        let binding = try observer.check(
            .binding, checkBinding(claims, of: token.jws.octets, policy, dialect, parameters.evidence, now: now))
        let authorization = try observer.check(
            .scopes, checkScopes(claims, client: client ?? nil, dialect, contain: parameters.scopes))

        // `FirstFailure` has already thrown if a check failed. Other observers never produce a verified token.
        guard Observer.self == FirstFailure.self, let jws, let identity, let authorization, let audiences,
            let expiresAt, let notBefore, let binding
        else { return CheckResults(token: nil, jws: jws) }
        let verified = VerifiedAccessToken(
            identity: identity, authorization: authorization, binding: binding, audiences: audiences,
            authorizedParty: claims.text(.authorizedParty), issuedAt: issuedAt, expiresAt: expiresAt,
            notBefore: notBefore, authTime: try claims.time(.authTime), claims: claims, jws: jws)
        return CheckResults(token: verified, jws: jws)
    }

    /// The checks that need no key, and the algorithm.
    @inline(__always)
    func runAccessTokenHeaderChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, _ dialect: AccessTokenDialect,
        watchedBy observer: Observer
    ) throws(Rejection) -> SignatureAlgorithm? {
        let algorithm = try runHeaderChecks(
            on: token, allowing: algorithms,
            type: { header throws(Rejection) in try checkAccessTokenType(header, dialect) }, watchedBy: observer)
        try observer.check(.signer, if: dialect.loadBalancer != nil, given: dialect.loadBalancer) {
            signer throws(Rejection) in
            try LoadBalancerHeader(token).check(token, signedBy: signer)
        }
        return algorithm
    }
}

/// Checks the JOSE header's `typ`.
///
/// RFC 9068 requires `at+jwt` or `application/at+jwt`, in any letter case. Other dialects also allow `JWT`, or no
/// `typ`.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 9068, section 4, step 1; RFC 7515, section 4.1.9.
package func checkAccessTokenType(_ header: JOSEHeader, _ dialect: AccessTokenDialect) throws(Rejection) {
    guard let type = try? accessTokenType(of: header), dialect.types.contains(type) else { throw .headerUnsupported }
}

/// - Throws: ``Rejection/headerUnsupported`` for any other `typ`.
private func accessTokenType(of header: JOSEHeader) throws(Rejection) -> AccessTokenType {
    switch header.type?.lowercased() {
    case "at+jwt", "application/at+jwt": return .accessToken
    case nil: return .none
    default:
        try checkTokenType(header)
        return .jwt
    }
}

/// Checks that the token is neither an ID Token nor a notification, which are signed with the same keys.
///
/// Runs before all other checks of claims except the issuer's, so that a rejection says which kind of token was sent.
/// The policy's own rules compare the values of claims that distinguish the kinds.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, which names a claim that access tokens don't have;
///   ``Rejection/claimMissing(_:)``, which names one that ID Tokens don't have.
/// - Source: RFC 8725, section 3.12.
func checkIsAccessToken(_ token: UnverifiedToken, _ dialect: AccessTokenDialect) throws(Rejection) {
    let claims = token.claims
    for claim in dialect.idTokenClaims where claims.contains(claim) { throw .claimInvalid(claim) }
    try checkNoEvents(claims)
    guard let claim = dialect.accessTokenClaim, !claims.hasValue(claim),
        try accessTokenType(of: token.jws.header) != .accessToken
    else { return }
    throw .claimMissing(claim)
}

/// Checks that the access token was issued for this API, and returns `aud`.
///
/// One audience must be ours. The others are APIs that accept the same token.
///
/// If no audience is configured, the token must have none, and only its client ties it to this API, or the key set: see
/// ``checkClient(_:_:_:)`` and ``AccessTokenDialect/hasKeysOfOneClient``.
///
/// - Parameter audience: if given, the only audience that counts as ours.
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``,
///   ``Rejection/audienceNotExpected``.
/// - Source: RFC 9068, section 4, step 4.
func checkResourceAudience(
    _ claims: Claims, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect, narrowedTo audience: String?
) throws(Rejection) -> [String] {
    let audiences = try claims.audiences()
    guard !policy.audiences.isEmpty else {
        guard audiences.isEmpty, !policy.authorizedParties.isEmpty || dialect.hasKeysOfOneClient else {
            throw .audienceMismatch
        }
        return audiences
    }
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    let ours = audiences.filter(policy.audiences.containsExactly)
    guard !ours.isEmpty else { throw .audienceMismatch }
    guard audience.map(ours.containsExactly) ?? true else { throw .audienceNotExpected }
    return audiences
}

/// Checks which client the access token was issued to, and returns its ID; `nil` if the provider's tokens name none.
///
/// The claim is `client_id`, `azp`, `cid` or `appid`, depending on the provider.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``; ``Rejection/authorizedPartyMismatch`` if
///   the settings list clients, and this is not one of them.
/// - Source: RFC 9068, section 2.2.
func checkClient(
    _ token: UnverifiedToken, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect
) throws(Rejection) -> String? {
    if dialect.loadBalancer != nil { return try LoadBalancerHeader(token).checkClient(policy) }
    let claims = token.claims
    let claim = dialect.clientClaims.first(where: claims.hasValue)
    if claim == nil, dialect.requiresClient, let missing = dialect.clientClaims.first { throw .claimMissing(missing) }
    let client: String? = if let claim { try claims.string(claim) } else { nil }
    try checkIsAuthorized(client, policy)
    return client
}

/// Checks that the settings list the client, if they list any.
///
/// - Parameter client: `nil` if the token names none.
/// - Throws: ``Rejection/authorizedPartyMismatch``.
func checkIsAuthorized(_ client: String?, _ policy: ProviderPolicy) throws(Rejection) {
    guard policy.authorizedParties.isEmpty || client.map(policy.authorizedParties.containsExactly) == true else {
        throw .authorizedPartyMismatch
    }
}

/// Checks `sub`, or the claim that replaces it for machines, and returns the subject.
///
/// A gateway's service token may have an empty `sub`, and the machine's name in another claim. If the settings accept
/// such tokens, the subject is that claim's name, a colon, and its value, so that no machine has the subject of a user.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
func checkUserOrMachine(
    _ claims: Claims, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect
) throws(Rejection) -> String {
    guard dialect.acceptsServiceTokens, let claim = dialect.serviceNameClaim,
        try claims.string(.subject)?.isEmpty == true
    else { return try checkSubject(claims, policy) }
    guard let name = try claims.string(claim), !name.isEmpty else { throw .claimMissing(claim) }
    let subject = claim.string + ":" + name
    guard subject.utf8.count <= policy.maximumSubjectLength, subject.utf8.allSatisfy(\.isVisibleASCII) else {
        throw .claimInvalid(claim)
    }
    return subject
}

/// Reads the permissions that the access token grants, and checks that it grants every scope that the request needs.
///
/// - Throws: ``Rejection/claimInvalid(_:)`` unless the scopes are a string or a list of strings;
///   ``Rejection/scopeMissing``.
/// - Source: RFC 6749, section 3.3; RFC 9068, section 4.
func checkScopes(
    _ claims: Claims, client: String?, _ dialect: AccessTokenDialect, contain needed: [String]
) throws(Rejection) -> Authorization {
    let authorization = try Authorization(claims, client: client, dialect.authorization)
    try authorization.check(contains: needed)
    return authorization
}

extension Authorization {
    /// Scopes are compared byte for byte.
    ///
    /// - Throws: ``Rejection/scopeMissing``.
    func check(contains needed: [String]) throws(Rejection) {
        guard needed.allSatisfy(scopes.containsExactly) else { throw .scopeMissing }
    }
}

/// The header of an AWS load balancer's assertion. It has members that other providers put into claims.
///
/// - Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html, "User claims
///   encoding and signature verification".
struct LoadBalancerHeader {
    private let members: Claims

    /// - Throws: ``Rejection/tokenMalformed(_:)``, but never for a token that has been read.
    init(_ token: UnverifiedToken) throws(Rejection) {
        guard let object = token.jws.headerObject else { throw .tokenMalformed(.header) }
        members = Claims(object)
    }

    /// Checks that the configured load balancer signed the assertion, and that header and payload agree on `iss` and
    /// `exp`. Needs no key.
    ///
    /// - Parameter signer: the load balancer's ARN, compared byte for byte.
    /// - Throws: ``Rejection/keyNotFound`` if `kid` is not a UUID and therefore can't name a key;
    ///   ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
    func check(_ token: UnverifiedToken, signedBy signer: String) throws(Rejection) {
        guard token.keyID?.isLowercaseUUID == true else { throw .keyNotFound }
        guard let claimed = try members.string(.signer) else { throw .claimMissing(.signer) }
        guard claimed.isExactly(signer) else { throw .claimInvalid(.signer) }
        guard let issuer = try members.string(.issuer) else { throw .claimMissing(.issuer) }
        guard try token.claims.string(.issuer)?.isExactly(issuer) == true else { throw .issuerMismatch }
        guard let expiresAt = try members.time(.expiration) else { throw .claimMissing(.expiration) }
        guard try token.claims.time(.expiration) == expiresAt else { throw .claimInvalid(.expiration) }
    }

    /// Checks which client the load balancer signed the user in with, and returns its ID.
    ///
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``,
    ///   ``Rejection/authorizedPartyMismatch``.
    func checkClient(_ policy: ProviderPolicy) throws(Rejection) -> String {
        guard let client = try members.string(Self.client) else { throw .claimMissing(Self.client) }
        guard policy.authorizedParties.containsExactly(client) else { throw .authorizedPartyMismatch }
        return client
    }

    private static let client = ClaimName("client")
}
