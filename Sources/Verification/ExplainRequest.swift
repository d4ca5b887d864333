package import JSON

/// The body of `POST /v1/explain`: the request that the answer explains.
package enum ExplainRequest {
    /// The body of `POST /v1/verify`.
    case idToken(VerifyRequest)
    /// The body of `POST /v1/access-tokens/verify`.
    case accessToken(AccessTokenRequest)
    /// A token as a gateway would send it to `/v1/forward-auth/{policy}`.
    case gateway(token: ArraySlice<UInt8>, policy: ArraySlice<UInt8>)

    /// Unknown members are rejected.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        guard object[Names.token] != nil else {
            self = .idToken(try VerifyRequest(object))
            return
        }
        guard object[Names.policy] != nil else {
            self = .accessToken(try AccessTokenRequest(object))
            return
        }
        try object.requireOnly([Names.token, Names.policy], in: "request that names a policy")
        guard let token = try? object.utf8(Names.token), let policy = try? object.utf8(Names.policy) else {
            throw .requestInvalid("The request's token and policy must be strings.")
        }
        self = .gateway(token: token, policy: policy)
    }

    private enum Names {
        static let token: JSONName = "token"
        static let policy: JSONName = "policy"
    }
}
