package import IDToken
package import JSON
private import OpenSSL
private import ReplayStore
package import Verification

/// The body of `POST /v1/sign-ins/finish`.
package struct FinishRequest {
    let handle: SealedSignIn
    let idToken: ArraySlice<UInt8>?
    let code: String?
    let accessToken: String?
    /// `nil` for a native sign-in.
    let response: BrowserResponse?
    let redirectURI: String?
    let clientName: ClientName?
    let includesClaims: Bool

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        guard let handle = try? object.utf8(Names.signIn) else {
            throw .requestInvalid("The request needs a member sign_in, the string returned by POST /v1/sign-ins.")
        }
        self.handle = SealedSignIn(text: Array(handle))
        do throws(JSONTypeMismatch) {
            idToken = try object.utf8(MemberNames.idToken)
        } catch {
            guard object.kind(of: MemberNames.idToken) == .null else {
                throw .requestInvalid("id_token must be a string.")
            }
            idToken = nil
        }
        code = try object.string(MemberNames.code, characters: MemberBounds.code)
        accessToken = try object.string(MemberNames.accessToken, characters: MemberBounds.accessToken)
        response =
            if let response = object[Names.response], response.kind != .null { try BrowserResponse(response) } else {
                nil
            }
        redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        clientName = if let user = object[MemberNames.user], user.kind != .null { try ClientName(user) } else { nil }
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    /// Opens the handle.
    ///
    /// - Throws: ``Problem/signInInvalid``, ``Problem/signInExpired``, and ``Problem/rejected(_:)`` if OpenSSL fails.
    package func open(by sealer: SignInSealer, now: UnixTime) throws(Problem) -> OpenedSignIn {
        let opened: OpenedSignIn?
        do throws(OpenSSLError) {
            opened = try sealer.open(handle)
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
        // A handle from a clock that was far ahead would outlive its claim, so it could be used twice.
        guard let opened, opened.content.begunAt <= now.advanced(bySeconds: ClaimEnd.clockTolerance) else {
            throw .signInInvalid
        }
        guard now < opened.content.expiresAt else { throw .signInExpired }
        return opened
    }

    private enum Names {
        static let signIn: JSONName = "sign_in"
        static let response: JSONName = "response"
        static let redirectURI: JSONName = "redirect_uri"
        static let all = [
            signIn, MemberNames.idToken, MemberNames.code, MemberNames.accessToken, response, redirectURI,
            MemberNames.user, MemberNames.includeClaims,
        ]
    }
}
