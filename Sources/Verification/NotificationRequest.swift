package import JSON

/// The body of `POST /v1/notifications/verify`.
package struct NotificationRequest: Sendable {
    let token: ArraySlice<UInt8>
    let provider: String?

    /// Reads `token` or `payload`. Apple sends the body `{"payload": "…"}`: a backend may forward this body unchanged,
    /// or send it as the value of `payload`.
    ///
    /// - Parameter others: names of members that belong to something else.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject, beside others: [JSONName] = []) throws(Problem) {
        try object.requireOnly([MemberNames.provider, Names.token, Names.payload] + others, in: "request")
        provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        let token = try object.text(Names.token)
        switch (token, try Self.payload(of: object)) {
        case (let token?, nil), (nil, let token?): self.token = token
        case (nil, nil), (_?, _?):
            throw .requestInvalid("The request needs either token, a string, or payload, the body that Apple sent.")
        }
    }

    private static func payload(of object: JSONObject) throws(Problem) -> ArraySlice<UInt8>? {
        guard let body = object[Names.payload]?.object else { return try object.text(Names.payload) }
        guard body.count == 1, let token = try? body.utf8(Names.payload) else {
            throw .requestInvalid("payload must be a string, or the object {\"payload\": \"…\"} that Apple sent.")
        }
        return token
    }

    private enum Names {
        static let token: JSONName = "token"
        static let payload: JSONName = "payload"
    }
}

extension JSONObject {
    /// A string as UTF-8; `nil` if it is absent or `null`.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    fileprivate func text(_ name: JSONName) throws(Problem) -> ArraySlice<UInt8>? {
        do throws(JSONTypeMismatch) {
            return try utf8(name)
        } catch {
            if kind(of: name) == .null { return nil }
            throw .requestInvalid("\(name.string) must be a string.")
        }
    }
}
