private import Bytes
internal import IDToken
internal import JOSE
internal import OAuth
private import OpenSSL
internal import Verification

/// The parameters that the redirect URI received (RFC 6749, section 4.1.2; RFC 9207). Others are ignored.
struct BrowserResponse {
    private let state: String?
    private let code: String?
    private let issuer: String?
    private let error: String?
    private let user: String?
    private let idToken: String?
    /// A signed response (JARM).
    private let signed: String?

    private static let maximumCount = 32

    /// - Throws: ``Problem/requestInvalid(_:)`` unless they are strings, at most 32.
    init(_ value: JSONValue) throws(Problem) {
        guard let parameters = value.object, parameters.count <= Self.maximumCount else { throw Self.malformed }
        var areStrings = true
        parameters.forEachMember { if $1.kind != .string { areStrings = false } }
        guard areStrings else { throw Self.malformed }
        try self.init(signed: parameters["response"]?.string) { parameters[$0]?.string }
    }

    /// The parameters in a signed response, which replace all that came with it.
    ///
    /// - Throws: ``Problem/responseInvalid(_:)``.
    init(_ verified: VerifiedResponse) throws(Problem) {
        try self.init(signed: nil) { name throws(Problem) in
            guard let value = verified.claims[name], value.kind != .null else { return nil }
            guard let text = value.string else { throw .responseInvalid(.content) }
            return text
        }
    }

    private init(signed: String?, _ text: (JSONName) throws(Problem) -> String?) throws(Problem) {
        // A parameter without a value counts as absent (RFC 6749, section 3.1).
        func parameter(_ name: JSONName) throws(Problem) -> String? {
            try text(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        state = try parameter("state")
        code = try parameter("code")
        issuer = try parameter("iss")
        error = try parameter("error")
        user = try parameter("user")
        idToken = try parameter("id_token")
        self.signed = signed.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The signed response of a sign-in that asked for one, and nothing beside it.
    ///
    /// - Throws: ``Problem/responseInvalid(_:)``.
    func signedResponse() throws(Problem) -> ArraySlice<UInt8> {
        guard let signed else { throw .responseInvalid(.plain) }
        let plain = [state, code, issuer, error, user, idToken]
        guard plain.allSatisfy({ $0 == nil }) else { throw .responseInvalid(.beside) }
        return Array(signed.utf8)[...]
    }

    private static var malformed: Problem {
        .requestInvalid(
            "response must be an object of at most \(maximumCount) strings: the parameters received at the redirect URI."
        )
    }

    /// Checks that the response belongs to the sign-in, and that the user signed in.
    ///
    /// - Parameters:
    ///   - redirectURI: where the response was received; `nil` if the backend does not say.
    ///   - requiresIssuer: whether the provider says that its responses name the issuer; `nil` if that is not known.
    /// - Throws: ``Problem/stateMismatch``, ``Problem/redirectURIMismatch``, ``Problem/responseIssuerMismatch(_:)``,
    ///   ``Problem/signInDenied(context:)``, ``Problem/signInRefused(_:context:)``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/providerUnavailable(retryAfterSeconds:limit:)``.
    func check(
        against signIn: BrowserSignIn, context: String?, receivedAt redirectURI: String?, requiresIssuer: Bool?,
        _ policy: ProviderPolicy
    ) throws(Problem) -> CheckedResponse {
        guard let state, constantTimeEquals(state.utf8.span, signIn.state.text.utf8.span) else { throw .stateMismatch }
        if let redirectURI, !redirectURI.isExactly(signIn.redirectURI) { throw .redirectURIMismatch }
        var canonicalIssuer: String?
        if let issuer {
            canonicalIssuer = policy.canonicalIssuer(of: issuer)
            guard canonicalIssuer != nil else { throw .responseIssuerMismatch(.notTheProviders) }
        } else {
            guard let requiresIssuer else { throw .endpointUnknown }
            if requiresIssuer { throw .responseIssuerMismatch(.missing) }
        }
        if let error {
            if Self.denials.contains(error) { throw .signInDenied(context: context) }
            throw .signInRefused(OAuthErrorName(naming: error), context: context)
        }
        guard let text = code, let code = AuthorizationCode(text) else {
            throw .requestInvalid("response has no valid code; send all parameters that the redirect URI received.")
        }
        let hasFrontToken = signIn.requested?.hasFrontToken == true
        if hasFrontToken, idToken == nil {
            throw .requestInvalid("response has no id_token; send all parameters that the redirect URI received.")
        }
        return CheckedResponse(
            code: code, codeText: text, issuer: canonicalIssuer, name: user.flatMap(ClientName.init(ofResponse:)),
            state: state, idToken: hasFrontToken ? idToken : nil)
    }

    /// Names of errors that mean that the user cancelled. The second is Apple's and LinkedIn's, the third LinkedIn's.
    private static let denials = ["access_denied", "user_cancelled_authorize", "user_cancelled_login"]
}

/// A response that belongs to its sign-in.
struct CheckedResponse {
    let code: AuthorizationCode
    /// The text of ``code``, to check the ID Token's `c_hash`.
    let codeText: String
    /// The canonical issuer that the response names; `nil` if it names none.
    let issuer: String?
    /// The name that Apple sends once.
    let name: ClientName?
    let state: String
    /// The ID Token that came with the code, if the sign-in asked for one.
    let idToken: String?
}

extension ClientName {
    /// Reads Apple's one-time `user` from a response, which is JSON in a string. It is the provider's text, so members
    /// that are not known are ignored.
    ///
    /// - Returns: `nil` if it is not a JSON object: other providers may send anything under this name.
    fileprivate init?(ofResponse text: String) {
        guard let user = try? JSONObject(Array(text.utf8)) else { return nil }
        let name = user["name"]?.object
        func part(_ member: JSONName) -> String? {
            name?[member]?.string.flatMap { (1...255).contains($0.unicodeScalars.count) ? $0 : nil }
        }
        self.init(givenName: part("firstName"), familyName: part("lastName"))
    }
}

extension SignIn {
    /// The signed response that finishes the sign-in; `nil` if it needs none, or can't be finished any more.
    ///
    /// - Throws: ``Problem/responseInvalid(_:)``, ``Problem/requestInvalid(_:)``.
    func signedResponse(
        _ request: FinishRequest, _ policy: ProviderPolicy
    ) throws(Problem) -> ArraySlice<UInt8>? {
        guard case .browser(let browser) = kind, browser.requested?.responseIsSigned == true,
            policy.audiences.containsExactly(audience)
        else { return nil }
        return try request.browserResponse().signedResponse()
    }
}
