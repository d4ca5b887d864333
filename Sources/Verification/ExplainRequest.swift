package import JSON

/// The body of `POST /v1/explain`: the request that the answer explains.
package enum ExplainRequest {
    /// The body of `POST /v1/verify`.
    case idToken(VerifyRequest)
    /// The body of `POST /v1/access-tokens/verify`.
    case accessToken(AccessTokenRequest)
    /// The body of `POST /v1/notifications/verify`.
    case notification(NotificationRequest)
    /// A token as a gateway would send it to `/v1/forward-auth/{policy}`.
    case gateway(token: ArraySlice<UInt8>, policy: ArraySlice<UInt8>)

    /// What a token is explained as.
    package enum Kind: String, CaseIterable, Sendable {
        case idToken = "id_token"
        case accessToken = "access_token"
        case notification
    }

    /// The member `as` names the kind of the other members. Without it, the member that holds the token does. Unknown
    /// members are rejected.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        guard object[Names.policy] == nil else {
            self = try Self.gateway(object)
            return
        }
        switch try Self.kind(of: object) ?? (object[Names.token] == nil ? .idToken : .accessToken) {
        case .idToken: self = .idToken(try VerifyRequest(object, beside: [Names.as]))
        case .accessToken: self = .accessToken(try AccessTokenRequest(object, beside: [Names.as]))
        case .notification: self = .notification(try NotificationRequest(object, beside: [Names.as]))
        }
    }

    private static func kind(of object: JSONObject) throws(Problem) -> Kind? {
        guard let value = object[Names.as], value.kind != .null else { return nil }
        guard let kind = value.string.flatMap(Kind.init) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .requestInvalid("as must be one of \(known).")
        }
        return kind
    }

    private static func gateway(_ object: JSONObject) throws(Problem) -> ExplainRequest {
        try object.requireOnly([Names.token, Names.policy], in: "request that names a policy")
        guard let token = try? object.utf8(Names.token), let policy = try? object.utf8(Names.policy) else {
            throw .requestInvalid("The request's token and policy must be strings.")
        }
        return .gateway(token: token, policy: policy)
    }

    private enum Names {
        static let token: JSONName = "token"
        static let policy: JSONName = "policy"
        static let `as`: JSONName = "as"
    }
}
