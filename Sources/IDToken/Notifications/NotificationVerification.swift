private import Bytes
package import JOSE

/// Verifies notifications, without I/O and without a clock.
///
/// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.6; RFC 8417, section 2.2; RFC 8725, section 3.12.
extension JWSVerifier {
    /// Verifies a notification; see ``NotificationVerifier/verify(_:with:algorithms:now:)``.
    ///
    /// - Throws: ``Rejection``.
    package func verifyNotification(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ rules: NotificationRules, now: UnixTime
    ) throws(Rejection) -> VerifiedNotification {
        try runNotificationChecks(
            on: token, with: keys, algorithms: algorithms, under: policy, rules, now: now, watchedBy: FirstFailure()
        ).verified()
    }

    /// Runs the checks that need no keys.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``.
    package func checkNotificationHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms
    ) throws(Rejection) {
        _ = try runHeaderChecks(
            on: token, allowing: algorithms, type: checkNotificationType, watchedBy: FirstFailure())
    }
}

extension UnverifiedToken {
    /// Checks the unverified issuer, audience, kind and times. Keys are fetched only if they pass: otherwise junk
    /// tokens could trigger requests to a provider.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkClaims(
        ofNotificationUnder policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
    ) throws(Rejection) {
        _ = try checkNotificationIssuer(claims, policy, rules)
        try checkNotificationAudience(claims, policy)
        let kind = try checkEvents(self, rules).kind
        if rules.mustExpire(kind) || claims.contains(.expiration) { _ = try checkExpiration(claims, policy, now: now) }
        _ = try checkNotBefore(claims, policy, now: now)
        let issuedAt = try checkIssuedAt(claims, policy, now: now)
        try checkTokenAge(issuedAt: issuedAt, atMost: rules.maximumAgeSeconds, policy, now: now)
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

/// A notification that passed every check: who sent it, and what happened. Only ``NotificationVerifier`` creates one.
public struct VerifiedNotification: Sendable, Equatable {
    public let kind: NotificationKind
    /// The provider's canonical issuer.
    public let issuer: String
    /// `jti`. The same for repeated deliveries.
    public let id: String
    /// `iat`.
    public let issuedAt: UnixTime
    /// At least one, in the order of the notification.
    public let events: [NotifiedEvent]
}

/// One event, in the same form for every kind of notification.
public struct NotifiedEvent: Sendable, Equatable {
    public var type: EventType
    /// The user, as in `identity.subject`; `nil` if the event names none, or one of another issuer.
    public var subject: String?
    public var sessionID: String?
    public var email: String?
    public var isPrivateEmail: Bool?
    public var occurredAt: UnixTime?
    public var reason: String?
    /// A JSON object with everything that the other members don't contain; for ``EventType/other``, the whole event.
    public var data: [UInt8]

    /// The kind of event. A new version may add cases, for events that are ``other`` today.
    public enum EventType: String, Sendable, CaseIterable {
        case consentRevoked = "consent_revoked"
        case accountDeleted = "account_deleted"
        case emailRelayDisabled = "email_relay_disabled"
        case emailRelayEnabled = "email_relay_enabled"
        case loggedOut = "logged_out"
        case sessionsRevoked = "sessions_revoked"
        case tokensRevoked = "tokens_revoked"
        case accountDisabled = "account_disabled"
        case accountEnabled = "account_enabled"
        case credentialChangeRequired = "credential_change_required"
        case identifierChanged = "identifier_changed"
        case identifierRecycled = "identifier_recycled"
        /// Sent by a transmitter to test the delivery.
        case verification
        /// An event without a name of its own here. The data is the whole event.
        case other
    }
}
