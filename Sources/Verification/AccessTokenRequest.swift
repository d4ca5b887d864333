internal import AccessTokens
private import Bytes
internal import IDToken
package import JSON

/// The body of `POST /v1/access-tokens/verify`.
package struct AccessTokenRequest: Sendable {
    let token: ArraySlice<UInt8>
    let provider: String?
    let parameters: AccessTokenParameters
    let includesClaims: Bool

    /// Unknown members are rejected, and so is `null` for a member that enables a check, as in ``VerifyRequest``.
    ///
    /// - Parameter others: names of members that belong to something else.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject, beside others: [JSONName] = []) throws(Problem) {
        try object.requireOnly(Names.all + others, in: "request")
        guard let token = try? object.utf8(Names.token) else {
            throw .requestInvalid("The request needs a member token, a string.")
        }
        self.token = token
        provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        parameters = AccessTokenParameters(
            audience: try object.string(MemberNames.audience, characters: MemberBounds.audience),
            expectedSubject: try ExpectedSubject(of: object),
            authenticatedAfter: try VerifyRequest.authenticatedAfter(object),
            scopes: try object.scopes(Names.scopes) ?? [])
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    /// Rejects a request for something that the provider's settings don't allow.
    ///
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``.
    func check(against policy: ProviderPolicy) throws(Problem) {
        if let audience = parameters.audience, !policy.audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        if let person = parameters.expectedSubject { try person.check(against: policy) }
    }

    private enum Names {
        static let token: JSONName = "token"
        static let scopes: JSONName = "scopes"
        static let all = [
            token, MemberNames.provider, MemberNames.audience, MemberNames.subject, MemberNames.issuer,
            MemberNames.authenticatedAfter, scopes, MemberNames.includeClaims,
        ]
    }
}
