private import Bytes
package import IDToken
package import JOSE
private import JSON

/// Verifies notifications, without I/O and without a clock.
///
/// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.6; RFC 8417, section 2.2; RFC 8725, section 3.12.
extension JWSVerifier {
    /// Verifies a notification: header, signature, then the claims. Throws at the first check that fails.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - now: the current time.
    /// - Throws: ``Rejection``.
    package func verifyNotification(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ rules: NotificationRules, now: UnixTime
    ) throws(Rejection) -> VerifiedNotification {
        let claims = token.claims
        let algorithm = try checkNotificationHeader(token, allowing: policy.algorithms ?? algorithms)
        let jws = try checkSignature(token.jws, keys, algorithm)
        let issuer = try checkNotificationIssuer(claims, policy, rules)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        try checkNotificationAudience(claims, policy)
        let content = try EventsClaim(claims)
        guard rules.kinds.contains(content.kind) else { throw .claimInvalid(.events) }
        if let declared = NotificationKind(declaredBy: jws.header), !content.kind.mayBeDeclared(as: declared) {
            throw .headerUnsupported
        }
        let issuedAt = try checkNotificationTimes(claims, content.kind, policy, rules, now: now)
        guard let id = try claims.string(.tokenID), !id.isEmpty else { throw .claimMissing(.tokenID) }
        return VerifiedNotification(
            kind: content.kind, issuer: issuer, id: id, issuedAt: issuedAt,
            events: try content.events(claims, policy, rules))
    }

    /// Makes the checks that need no keys, and returns the algorithm.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    @discardableResult
    package func checkNotificationHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms
    ) throws(Rejection) -> SignatureAlgorithm {
        if NotificationKind(declaredBy: token.jws.header) == nil { try checkTokenType(token.jws.header) }
        return try checkAlgorithm(token.jws.header, allowing: algorithms)
    }
}

extension UnverifiedToken {
    /// Whether fetching keys for this notification could help: its unverified issuer, audience and `iat` would pass.
    ///
    /// Without this check, junk tokens could trigger requests to a provider.
    package func wouldPassClaims(
        ofNotificationUnder policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
    ) -> Bool {
        do throws(Rejection) {
            _ = try checkNotificationIssuer(claims, policy, rules)
            try checkNotificationAudience(claims, policy)
            _ = try checkNotificationAge(claims, policy, rules, now: now)
            return true
        } catch {
            return false
        }
    }
}

extension NotificationKind {
    /// The kind that a header declares by its `typ`; `nil` if it declares none.
    ///
    /// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4; RFC 8417, section 2.3; RFC 7515, section 4.1.9.
    fileprivate init?(declaredBy header: JOSEHeader) {
        switch header.type?.lowercased() {
        case "logout+jwt", "application/logout+jwt": self = .logout
        case "secevent+jwt", "application/secevent+jwt": self = .securityEvent
        default: return nil
        }
    }

    /// Apple declares nothing. Its notifications are security event tokens whose `events` has a form of Apple's own.
    fileprivate func mayBeDeclared(as declared: NotificationKind) -> Bool {
        switch self {
        case .apple, .securityEvent: declared == .securityEvent
        case .logout: declared == .logout
        }
    }
}

// MARK: Claims

/// Checks the issuer, and returns the provider's canonical one.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
private func checkNotificationIssuer(
    _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
) throws(Rejection) -> String {
    if let issuer = claims.text(.issuer), rules.issuers.containsExactly(issuer) { return policy.issuer }
    return try checkIssuer(claims, policy)
}

/// Checks that one audience is ours. Others may receive the same notification.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``.
private func checkNotificationAudience(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    let audiences = try claims.audiences()
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    guard audiences.contains(where: policy.audiences.containsExactly) else { throw .audienceMismatch }
}

/// - Returns: `iat`.
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``,
///   ``Rejection/tokenNotYetValid``, ``Rejection/tokenTooOld``.
private func checkNotificationTimes(
    _ claims: Claims, _ kind: NotificationKind, _ policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
) throws(Rejection) -> UnixTime {
    // Only logout tokens must expire. Google's tokens have no `exp`.
    if kind == .logout || claims.contains(.expiration) { _ = try checkExpiration(claims, policy, now: now) }
    _ = try checkNotBefore(claims, policy, now: now)
    return try checkNotificationAge(claims, policy, rules, now: now)
}

private func checkNotificationAge(
    _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
) throws(Rejection) -> UnixTime {
    let issuedAt = try checkIssuedAt(claims, policy, now: now)
    let oldest = issuedAt.advanced(bySeconds: rules.maximumAgeSeconds).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
    return issuedAt
}

extension EventsClaim {
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    fileprivate func events(
        _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
    ) throws(Rejection) -> [NotifiedEvent] {
        switch self {
        case .apple(let event): return [try NotifiedEvent(apple: event)]
        case .logout(let event, let others):
            try checkNoNonce(claims)
            let logout = try NotifiedEvent(logout: event, claims)
            return [logout] + Self.securityEvents(others, claims, policy, rules)
        case .securityEvents(let events):
            try checkNoNonce(claims)
            return Self.securityEvents(events, claims, policy, rules)
        }
    }

    private static func securityEvents(
        _ events: [(type: String, event: JSONObject)], _ claims: Claims, _ policy: ProviderPolicy,
        _ rules: NotificationRules
    ) -> [NotifiedEvent] {
        let own = OwnIssuer(claims, policy, rules)
        return events.map { NotifiedEvent(security: $0.event, named: $0.type, claims, issuer: own) }
    }
}

extension OwnIssuer {
    /// Accepts the token's own issuer, and any other spelling of the provider's. If each tenant has an issuer of its
    /// own, subjects differ by tenant, so only the token's own issuer is accepted.
    fileprivate init(_ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules) {
        let issuer = claims.text(.issuer)
        isOwn = { named in
            if let issuer, issuer.isExactly(named) { return true }
            return !policy.hasTemplateIssuer && (policy.isIssuer(named) || rules.issuers.containsExactly(named))
        }
    }
}
