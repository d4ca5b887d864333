public import JOSE

/// Verifies the notifications that one provider sends to a backend, from any thread or task: Apple's server-to-server
/// notifications, logout tokens and security events.
///
/// ```swift
/// let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
/// let verifier = try NotificationVerifier(policy, ProviderPreset.apple.notifications([.apple]))
/// let notification = try verifier.verify(payload, with: keys, now: now)
/// for event in notification.events {
///     switch event.type {
///     case .accountDeleted, .consentRevoked: try deleteUser(notification.issuer, event.subject)
///     default: break
///     }
/// }
/// ```
///
/// It does no I/O and reads no clock, and remembers no notification: a delivery may be repeated, so act on each
/// ``VerifiedNotification/id`` once.
public final class NotificationVerifier: SharedVerifier {
    /// The rules for the provider's tokens.
    public let policy: ProviderPolicy
    /// Which notifications are accepted.
    public let rules: NotificationRules
    package let verifiers: VerifierPool
    package var provider: ProviderPolicy { policy }

    /// - Parameters:
    ///   - policy: what the provider's tokens must satisfy; see ``ProviderPreset/policy(id:issuer:audiences:arguments:)``.
    ///   - rules: which notifications are accepted; see ``ProviderPreset/notifications(_:arguments:)``.
    ///   - maximumTokenLength: the length of the longest token that is read, in bytes.
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    public init(
        _ policy: ProviderPolicy, _ rules: NotificationRules, maximumTokenLength: Int = UnverifiedToken.maximumLength
    ) throws(Rejection) {
        self.policy = policy
        self.rules = rules
        verifiers = try VerifierPool(signatureCacheCapacity: 0, maximumTokenLength: maximumTokenLength)
    }

    /// Verifies a notification: its form, header, algorithm, key, signature, then every claim. Throws at the first check
    /// that fails.
    ///
    /// - Parameters:
    ///   - token: the token as it was received: Apple's `payload`, the form's `logout_token`, or the body itself.
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - now: the current time, for checks of the token's times.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.6; RFC 8417, section 2.2.
    public func verify(
        _ token: String, with keys: JWKSet, algorithms: SignatureAlgorithms = .all, now: UnixTime
    ) throws(Rejection) -> VerifiedNotification {
        try verify(text: token, with: keys, algorithms: algorithms, expecting: (), now: now)
    }

    package func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, expecting parameters: Void,
        now: UnixTime, by verifier: IDTokenVerifier
    ) throws(Rejection) -> VerifiedNotification {
        try verifier.jwsVerifier.verifyNotification(
            token, with: keys, algorithms: algorithms, under: policy, rules, now: now)
    }

    package func checkHeader(_ token: UnverifiedToken, by verifier: IDTokenVerifier) throws(Rejection) {
        try verifier.jwsVerifier.checkNotificationHeader(token, allowing: policy.algorithms ?? .all)
    }

    package func checkClaims(_ token: UnverifiedToken, now: UnixTime) throws(Rejection) {
        try token.checkClaims(ofNotificationUnder: policy, rules, now: now)
    }
}

extension ProviderPreset {
    /// The rules for notifications of this provider, with what is known about them.
    ///
    /// - Parameters:
    ///   - kinds: those that are accepted, at least one.
    ///   - arguments: values for the preset's ``parameters``.
    public func notifications(
        _ kinds: [NotificationKind], arguments: PresetArguments = PresetArguments()
    ) -> NotificationRules {
        facts(arguments).notifications(kinds)
    }
}

extension ProviderFacts {
    /// The same, for a provider whose facts may differ from its preset's.
    package func notifications(_ kinds: [NotificationKind]) -> NotificationRules {
        NotificationRules(
            kinds: kinds, issuers: notificationIssuers, logoutTokensMayLackExpiration: logoutTokensLackExpiration)
    }
}
