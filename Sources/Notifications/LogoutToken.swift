internal import IDToken
internal import JSON

extension NotifiedEvent {
    /// Reads the event of a logout token.
    ///
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6.
    init(logout event: JSONObject, _ claims: Claims) throws(Rejection) {
        let subject = try claims.string(.subject)
        let session = try claims.string(.sessionID)
        self.init(type: .loggedOut, data: EventReader(event).everything)
        self.subject = subject?.isEmpty == true ? nil : subject
        sessionID = session?.isEmpty == true ? nil : session
        if self.subject == nil, sessionID == nil { throw .claimMissing(.subject) }
    }
}

/// Checks that there is no `nonce`: an ID Token must not pass as a logout token.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4.
func checkNoNonce(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.nonce) else { throw .claimInvalid(.nonce) }
}
