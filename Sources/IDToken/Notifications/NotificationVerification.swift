private import Bytes
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
        (try? checkClaims(ofNotificationUnder: policy, rules, now: now)) != nil
    }

    /// Checks the unverified issuer, audience, kind and times.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkClaims(
        ofNotificationUnder policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
    ) throws(Rejection) {
        _ = try checkNotificationIssuer(claims, policy, rules)
        try checkNotificationAudience(claims, policy)
        try checkNotificationTimes(claims, checkEvents(self, rules).kind, policy, rules, now: now)
    }
}

/// A kind of signed message that a provider sends to a backend after the sign-in.
public enum NotificationKind: String, Sendable, CaseIterable {
    /// Apple's server-to-server notifications.
    case apple
    /// Logout tokens of OpenID Connect Back-Channel Logout 1.0.
    case logout
    /// Security Event Tokens (RFC 8417), such as those of RISC and CAEP.
    case securityEvent = "security_event"
}

/// Which notifications of a provider are accepted.
public struct NotificationRules: Sendable, Equatable {
    /// At least one.
    public var kinds: [NotificationKind]
    /// Maximum age since `iat`, in seconds.
    public var maximumAgeSeconds = Self.defaultMaximumAgeSeconds
    /// Whether a logout token may lack `exp`. Its `iat` then limits its age, as it does for the other kinds.
    public var logoutTokensMayLackExpiration: Bool
    /// Spellings of the issuer that only notifications have, compared byte for byte.
    public var issuers: [String]

    /// A week: senders repeat a delivery for days if a backend does not answer.
    package static let defaultMaximumAgeSeconds: Int64 = 7 * 86_400

    package init(kinds: [NotificationKind], issuers: [String] = [], logoutTokensMayLackExpiration: Bool = false) {
        self.kinds = kinds
        self.logoutTokensMayLackExpiration = logoutTokensMayLackExpiration
        self.issuers = issuers
    }
}
