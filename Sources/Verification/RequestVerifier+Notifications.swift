private import Bytes
private import IDToken
private import JOSE
internal import Notifications

/// Verifies notifications. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Verifies a notification: the request, the token's form, then all checks.
    package func verify(_ request: NotificationRequest, at now: VerificationTime) -> Outcome<NotificationAnswer> {
        var index = request.provider.flatMap(ofIDTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw unknownProvider(named: named) }
            if let slot = index.flatMap({ slots[$0] }), slot.provider.notifications == nil {
                throw .notificationsNotConfigured
            }
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.token)
            } catch {
                throw .rejected(error, of: .notification)
            }
            if index == nil { index = token.unverifiedIssuer.flatMap(self.index(ofNotificationIssuer:)) }
            guard let index, let slot = slots[index] else { throw .providerUnknown() }
            guard let rules = slot.provider.notifications else { throw .notificationsNotConfigured }
            return try attempt(token, index, slot, rules, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// Searches the issuers of all providers, then the alternative issuers that only notifications use.
    private func index(ofNotificationIssuer issuer: String) -> Int? {
        ofIDTokens.withIssuer(issuer, slots)
            ?? slots.firstIndex { $0?.provider.notifications?.issuers.containsExactly(issuer) == true }
    }

    /// - Throws: ``Problem/rejected(_:of:)``.
    private func attempt(
        _ token: UnverifiedToken, _ index: Int, _ slot: ProviderSlot, _ rules: NotificationRules,
        _ now: VerificationTime
    ) throws(Problem) -> Outcome<NotificationAnswer> {
        let policy = slot.policy
        let jwsVerifier = verifier.jwsVerifier
        return try attempt(token, index, slot, now, of: .notification) {
            token.wouldPassClaims(ofNotificationUnder: policy, rules, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try jwsVerifier.checkNotificationHeader(token, allowing: policy.algorithms ?? .all)
        } verifying: { keys throws(Rejection) in
            let notification = try jwsVerifier.verifyNotification(
                token, with: keys.keys, algorithms: keys.algorithms, under: policy, rules, now: now.wall)
            return NotificationAnswer(
                provider: policy.id, notification: notification, keys: keys.used(at: now.monotonic))
        }
    }
}
