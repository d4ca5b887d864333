private import Bytes
internal import IDToken
internal import JSON

extension EventsClaim {
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    func events(
        _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
    ) throws(Rejection) -> [NotifiedEvent] {
        switch self {
        case .apple(let event): return [try NotifiedEvent(apple: event)]
        case .logout(let event, let others, let members):
            let logout = try NotifiedEvent(logout: event, members, claims)
            return [logout] + Self.securityEvents(others, claims, policy, rules)
        case .securityEvents(let events):
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
