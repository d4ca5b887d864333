package import IDToken
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
    ) throws(Rejection) -> AccessTokenCheckResults {
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
        try observer.check(.tokenKind, checkIsAccessToken(claims, dialect))
        let audiences = try observer.check(
            .audience, checkResourceAudience(claims, policy, narrowedTo: parameters.audience))
        let client = try observer.check(.client, checkClient(token, policy, dialect))
        let expiresAt = try observer.check(.expiry, checkExpiration(claims, policy, now: now))
        let notBefore = try observer.check(.notBefore, checkNotBefore(claims, policy, now: now))
        let (maximumAge, revokedAt) = (policy.maximumTokenAgeSeconds, parameters.authenticatedAfter)
        // A load balancer's assertion has no iat. It passes only if no setting or parameter needs one.
        let mayLackIssuedAt = dialect.loadBalancer != nil && maximumAge == nil && revokedAt == nil
        let issuedAt = try observer.check(
            .issuedAt, if: !mayLackIssuedAt || claims.contains(.issuedAt), checkIssuedAt(claims, policy, now: now))
        try observer.check(.tokenAge, if: maximumAge != nil, given: issuedAt) { issuedAt throws(Rejection) in
            try checkTokenAge(issuedAt: issuedAt, policy, now: now)
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
        try observer.check(.binding, checkBinding(claims, dialect))
        let authorization = try observer.check(
            .scopes, checkScopes(claims, client: client ?? nil, dialect, contain: parameters.scopes))

        // `FirstFailure` has already thrown if a check failed. Other observers never produce a verified token.
        guard Observer.self == FirstFailure.self, let jws, let identity, let authorization, let audiences,
            let expiresAt, let notBefore
        else { return AccessTokenCheckResults(token: nil, jws: jws) }
        let verified = VerifiedAccessToken(
            identity: identity, authorization: authorization, audiences: audiences,
            authorizedParty: claims.text(.authorizedParty), issuedAt: issuedAt, expiresAt: expiresAt,
            notBefore: notBefore, authTime: try claims.time(.authTime), claims: claims, jws: jws)
        return AccessTokenCheckResults(token: verified, jws: jws)
    }

    /// The checks that need no key, and the algorithm.
    @inline(__always)
    func runAccessTokenHeaderChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, _ dialect: AccessTokenDialect,
        watchedBy observer: Observer
    ) throws(Rejection) -> SignatureAlgorithm? {
        let header = token.jws.header
        let isReadable: Void? =
            try observer.check(.header, checkAccessTokenType(header, dialect))
            ?? (header.hasUnsupportedParameter ? nil : ())
        let algorithm = try observer.check(.algorithm, given: isReadable) { () throws(Rejection) in
            try checkAlgorithm(header, allowing: algorithms)
        }
        try observer.check(.signer, if: dialect.loadBalancer != nil, given: dialect.loadBalancer) {
            signer throws(Rejection) in
            try LoadBalancerHeader(token).check(token, signedBy: signer)
        }
        return algorithm ?? isReadable.flatMap { header.algorithm }
    }
}

/// The results of an access token's checks.
package struct AccessTokenCheckResults {
    let token: VerifiedAccessToken?
    /// `nil` if the signature was not verified.
    package let jws: VerifiedJWS?
}
