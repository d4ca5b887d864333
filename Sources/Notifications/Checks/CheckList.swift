package import IDToken
package import JOSE

extension JWSVerifier {
    /// The only list of checks of notifications: header, algorithm, key, signature, then every claim. An observer can
    /// record all failures instead of only the first.
    ///
    /// - Returns: what the checks found. With ``FirstFailure``, this includes the verified notification.
    /// - Throws: the rejection with which the observer ends the verification.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.6; RFC 8417, section 2.2; RFC 8725, section 3.12.
    @inline(__always)
    package func runNotificationChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ rules: NotificationRules, now: UnixTime, watchedBy observer: Observer
    ) throws(Rejection) -> NotificationCheckResults {
        let claims = token.claims
        let algorithm = try runNotificationHeaderChecks(
            on: token, allowing: policy.algorithms ?? algorithms, watchedBy: observer)
        let jws = try observer.check(.signature, given: algorithm) { algorithm throws(Rejection) in
            try checkSignature(token.jws, keys, algorithm)
        }

        let issuer = try observer.check(.issuer, checkNotificationIssuer(claims, policy, rules))
        try observer.check(.keyIssuer, if: !policy.keyIssuers.isEmpty, given: jws) { jws throws(Rejection) in
            try checkKeyIssuer(jws.keyIssuer, claims, policy)
        }
        try observer.check(.audience, checkNotificationAudience(claims, policy))
        let content = try observer.check(.events, checkEvents(token, rules))
        let mustExpire = content.map { rules.mustExpire($0.kind) } ?? false
        try observer.check(
            .expiry, if: mustExpire || claims.contains(.expiration), checkExpiration(claims, policy, now: now))
        try observer.check(.notBefore, checkNotBefore(claims, policy, now: now))
        let issuedAt = try observer.check(.issuedAt, checkIssuedAt(claims, policy, now: now))
        try observer.check(.tokenAge, given: issuedAt) { issuedAt throws(Rejection) in
            try checkNotificationAge(issuedAt: issuedAt, policy, rules, now: now)
        }
        let id = try observer.check(.tokenID, checkNotificationID(claims))
        try observer.check(.nonce, if: content.map { $0.kind != .apple } ?? true, checkNoNonce(claims))
        let events = try observer.check(.subject, given: content) { content throws(Rejection) in
            try content.events(claims, policy, rules)
        }

        // `FirstFailure` has already thrown if a check failed. Other observers never produce a verified notification.
        guard Observer.self == FirstFailure.self, let jws, let issuer, let content, let issuedAt, let id, let events
        else { return NotificationCheckResults(notification: nil, jws: jws) }
        let notification = VerifiedNotification(
            kind: content.kind, issuer: issuer, id: id, issuedAt: issuedAt, events: events)
        return NotificationCheckResults(notification: notification, jws: jws)
    }

    /// The checks that need no key, and the algorithm.
    @inline(__always)
    func runNotificationHeaderChecks<Observer: CheckObserver>(
        on token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, watchedBy observer: Observer
    ) throws(Rejection) -> SignatureAlgorithm? {
        let header = token.jws.header
        let isReadable: Void? =
            try observer.check(.header, checkNotificationType(header)) ?? (header.hasUnsupportedParameter ? nil : ())
        let algorithm = try observer.check(.algorithm, given: isReadable) { () throws(Rejection) in
            try checkAlgorithm(header, allowing: algorithms)
        }
        return algorithm ?? isReadable.flatMap { header.algorithm }
    }
}

/// The results of a notification's checks.
package struct NotificationCheckResults {
    let notification: VerifiedNotification?
    /// `nil` if the signature was not verified.
    package let jws: VerifiedJWS?
}
