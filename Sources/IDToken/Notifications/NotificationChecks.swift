private import Bytes
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
    ) throws(Rejection) -> CheckResults<VerifiedNotification> {
        let claims = token.claims
        let algorithm = try runHeaderChecks(
            on: token, allowing: policy.algorithms ?? algorithms, type: checkNotificationType, watchedBy: observer)
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
            try checkTokenAge(issuedAt: issuedAt, atMost: rules.maximumAgeSeconds, policy, now: now)
        }
        let id = try observer.check(.tokenID, checkNotificationID(claims))
        try observer.check(.nonce, if: content.map { $0.kind != .apple } ?? true, checkNoNonce(claims))
        let events = try observer.check(.subject, given: content) { content throws(Rejection) in
            try content.events(claims, policy, rules)
        }

        // `FirstFailure` has already thrown if a check failed. Other observers never produce a verified notification.
        guard Observer.self == FirstFailure.self, let jws, let issuer, let content, let issuedAt, let id, let events
        else { return CheckResults(token: nil, jws: jws) }
        let notification = VerifiedNotification(
            kind: content.kind, issuer: issuer, id: id, issuedAt: issuedAt, events: events)
        return CheckResults(token: notification, jws: jws)
    }
}

/// Checks the JOSE header's `typ`: that of a notification, `JWT`, or none.
///
/// - Throws: ``Rejection/headerUnsupported``.
func checkNotificationType(_ header: JOSEHeader) throws(Rejection) {
    if NotificationKind(declaredBy: header) == nil { try checkTokenType(header) }
}

/// Reads `events`, and checks that their kind is accepted, and the one that the header declares.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``; ``Rejection/headerUnsupported`` if the
///   header declares another kind.
func checkEvents(_ token: UnverifiedToken, _ rules: NotificationRules) throws(Rejection) -> EventsClaim {
    let content = try EventsClaim(token.claims)
    guard rules.kinds.contains(content.kind) else { throw .claimInvalid(.events) }
    if let declared = NotificationKind(declaredBy: token.jws.header), !content.kind.mayBeDeclared(as: declared) {
        throw .headerUnsupported
    }
    return content
}

extension NotificationKind {
    /// The kind that a header declares by its `typ`; `nil` if it declares none.
    ///
    /// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4; RFC 8417, section 2.3; RFC 7515, section 4.1.9.
    init?(declaredBy header: JOSEHeader) {
        switch header.type?.lowercased() {
        case "logout+jwt", "application/logout+jwt": self = .logout
        case "secevent+jwt", "application/secevent+jwt": self = .securityEvent
        default: return nil
        }
    }

    /// Apple declares nothing. Its notifications are security event tokens whose `events` has a form of Apple's own.
    func mayBeDeclared(as declared: NotificationKind) -> Bool {
        switch self {
        case .apple, .securityEvent: declared == .securityEvent
        case .logout: declared == .logout
        }
    }

    /// The kind of a token's `events`; `nil` if they have none of the known forms.
    package init?(of claims: Claims) {
        guard let content = try? EventsClaim(claims) else { return nil }
        self = content.kind
    }

    /// The maximum number of events in one notification.
    package static let maximumEvents = 16
}

/// Checks the issuer, and returns the provider's canonical one.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
func checkNotificationIssuer(
    _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
) throws(Rejection) -> String {
    if let issuer = claims.text(.issuer), rules.issuers.containsExactly(issuer) { return policy.issuer }
    return try checkIssuer(claims, policy)
}

/// Checks that one audience is ours. Others may receive the same notification.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``.
func checkNotificationAudience(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    let audiences = try claims.audiences()
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    guard audiences.contains(where: policy.audiences.containsExactly) else { throw .audienceMismatch }
}

/// Checks `jti`, and returns it. Recipients recognize repeated deliveries by it.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
func checkNotificationID(_ claims: Claims) throws(Rejection) -> String {
    guard let id = try claims.string(.tokenID), !id.isEmpty else { throw .claimMissing(.tokenID) }
    return id
}

/// Checks that there is no `nonce`: an ID Token must not pass as a notification.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4.
func checkNoNonce(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.nonce) else { throw .claimInvalid(.nonce) }
}

extension NotificationRules {
    /// Whether a notification must have `exp`. Only logout tokens must; Google's security events have none.
    func mustExpire(_ kind: NotificationKind) -> Bool { kind == .logout && !logoutTokensMayLackExpiration }
}
