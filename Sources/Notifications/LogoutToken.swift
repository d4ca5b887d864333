internal import IDToken
internal import JSON

extension NotifiedEvent {
    /// Reads the event of a logout token.
    ///
    /// - Parameter members: what `events` has beside events. Recipients ignore what they don't know, so it is passed on.
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6.
    init(
        logout event: JSONObject, _ members: [(name: String, value: JSONValue)], _ claims: Claims
    ) throws(Rejection) {
        var reader = EventReader(event)
        for (name, value) in members { reader.add(JSONName(name), value) }
        let subject = try claims.string(.subject)
        let session = try claims.string(.sessionID)
        self.init(type: .loggedOut, data: reader.everything)
        self.subject = subject?.isEmpty == true ? nil : subject
        sessionID = session?.isEmpty == true ? nil : session
        if self.subject == nil, sessionID == nil { throw .claimMissing(.subject) }
    }
}
