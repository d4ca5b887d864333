/// A notification that passed every check: who sent it, and what happened. Only `verifyNotification` creates one.
package struct VerifiedNotification: Sendable, Equatable {
    package let kind: NotificationKind
    /// The provider's canonical issuer.
    package let issuer: String
    /// `jti`. The same for repeated deliveries.
    package let id: String
    /// `iat`.
    package let issuedAt: UnixTime
    /// At least one, in the order of the notification.
    package let events: [NotifiedEvent]
}

/// One event, in the same form for every kind of notification.
package struct NotifiedEvent: Sendable, Equatable {
    package var type: EventType
    /// The user, as in `identity.subject`; `nil` if the event names none, or one of another issuer.
    package var subject: String?
    package var sessionID: String?
    package var email: String?
    package var isPrivateEmail: Bool?
    package var occurredAt: UnixTime?
    package var reason: String?
    /// A JSON object with everything that the other members don't contain; for ``EventType/other``, the whole event.
    package var data: [UInt8]

    /// What happened.
    package enum EventType: String, Sendable, CaseIterable {
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
