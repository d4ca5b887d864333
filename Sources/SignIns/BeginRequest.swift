internal import IDToken
package import JSON
package import Verification

/// The body of `POST /v1/sign-ins`.
package struct BeginRequest {
    package let provider: String
    let audience: String?
    let redirectURI: String?
    let maximumAuthenticationAgeSeconds: Int64?
    let expectedSubject: ExpectedSubject?
    let context: String?
    let lifetimeSeconds: Int64

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        guard let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs a member provider, the id of a configured provider.")
        }
        self.provider = provider
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        try Self.checkBrowserMembers(object, isNative: redirectURI == nil)
        maximumAuthenticationAgeSeconds = try object.seconds(MemberNames.maxAge)
        expectedSubject = try ExpectedSubject(of: object)
        context = try Self.context(object)
        lifetimeSeconds = try Self.lifetime(object)
    }

    /// Rejects members for the authorization URL that are malformed, or that a native sign-in, which has no such URL,
    /// must not have.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func checkBrowserMembers(_ object: JSONObject, isNative: Bool) throws(Problem) {
        for name in Names.ofAuthorizationURL { _ = try object.string(name, characters: 0...255) }
        if let mode = try object.string(Names.responseMode, characters: 0...255),
            !["query", "form_post"].contains(mode)
        {
            throw .requestInvalid("response_mode must be query or form_post.")
        }
        _ = try object.scopes(Names.scopes)
        let names = [Names.scopes, Names.responseMode] + Names.ofAuthorizationURL
        guard isNative, let name = names.first(where: { object.kind(of: $0).map { $0 != .null } ?? false }) else {
            return
        }
        throw .requestInvalid(
            "\(name.string) is for sign-ins in a browser, which begin with redirect_uri; leave it out.")
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func context(_ object: JSONObject) throws(Problem) -> String? {
        guard let context = try object.string(Names.context, characters: 0...longestContext) else { return nil }
        guard context.utf8.count <= longestContext else {
            throw .requestInvalid("context must have at most \(longestContext) bytes of UTF-8.")
        }
        return context
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func lifetime(_ object: JSONObject) throws(Problem) -> Int64 {
        guard let seconds = try object.seconds(Names.expiresIn) else { return 600 }
        guard lifetimes.contains(seconds) else {
            throw .requestInvalid(
                "expires_in must be \(lifetimes.lowerBound) to \(lifetimes.upperBound) seconds; found \(seconds).")
        }
        return seconds
    }

    private static let longestContext = 512
    private static let lifetimes: ClosedRange<Int64> = 60...3600

    private enum Names {
        static let redirectURI: JSONName = "redirect_uri"
        static let context: JSONName = "context"
        static let expiresIn: JSONName = "expires_in"
        static let scopes: JSONName = "scopes"
        static let responseMode: JSONName = "response_mode"
        static let ofAuthorizationURL: [JSONName] = ["prompt", "login_hint", "ui_locales", "acr_values"]
        static let all =
            [
                MemberNames.provider, MemberNames.audience, redirectURI, MemberNames.maxAge, MemberNames.subject,
                MemberNames.issuer, context, expiresIn, scopes, responseMode,
            ] + ofAuthorizationURL
    }
}
