internal import IDToken
internal import JSON

extension NotifiedEvent {
    /// Reads the event of a server-to-server notification from Apple.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    /// - Source: developer.apple.com/documentation/signinwithapple, "Processing changes for Sign in with Apple
    ///   accounts".
    init(apple event: JSONObject) throws(Rejection) {
        guard let type = try? event.string(EventNames.type), let subject = try? event.string(EventNames.sub),
            !type.isEmpty, !subject.isEmpty
        else { throw .claimInvalid(.events) }
        var reader = EventReader(event)
        self.init(type: EventType(apple: type), data: [])
        self.subject = subject
        email = reader.string(EventNames.email)
        isPrivateEmail = reader.bool(EventNames.isPrivateEmail)
        occurredAt = reader.time(EventNames.eventTime)
        reader.take(EventNames.type, EventNames.sub)
        data = self.type == .other ? reader.everything : reader.rest
    }
}

extension NotifiedEvent.EventType {
    fileprivate init(apple type: String) {
        self =
            switch type {
            case "consent-revoked": .consentRevoked
            // Deliveries and older documentation have the first spelling, Apple's current page the second.
            case "account-delete", "account-deleted": .accountDeleted
            case "email-disabled": .emailRelayDisabled
            case "email-enabled": .emailRelayEnabled
            default: .other
            }
    }
}
