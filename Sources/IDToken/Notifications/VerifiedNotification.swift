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
