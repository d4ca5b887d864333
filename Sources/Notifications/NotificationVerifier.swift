private import Bytes
package import IDToken
package import JOSE

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
        let results = try runNotificationChecks(
            on: token, with: keys, algorithms: algorithms, under: policy, rules, now: now, watchedBy: FirstFailure())
        // Unreachable: `FirstFailure` throws when a check fails.
        guard let notification = results.notification else { throw .cryptographyUnavailable }
        return notification
    }

    /// Runs the checks that need no keys.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    package func checkNotificationHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms
    ) throws(Rejection) {
        _ = try runNotificationHeaderChecks(on: token, allowing: algorithms, watchedBy: FirstFailure())
    }
}

extension UnverifiedToken {
    /// Whether fetching keys for this notification could help: its unverified issuer, audience, kind and times would
    /// pass.
    ///
    /// Without this check, junk tokens could trigger requests to a provider.
    package func wouldPassClaims(
        ofNotificationUnder policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
    ) -> Bool {
        do throws(Rejection) {
            _ = try checkNotificationIssuer(claims, policy, rules)
            try checkNotificationAudience(claims, policy)
            try checkNotificationTimes(claims, checkEvents(self, rules).kind, policy, rules, now: now)
            return true
        } catch {
            return false
        }
    }
}
