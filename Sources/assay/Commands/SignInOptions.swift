import ArgumentParser
import IDToken
import JOSE
import Verification

/// Options with the parameters of a verification.
struct SignInOptions: ParsableArguments {
    @Option(help: "The id of a configured provider. Default: the provider whose issuer is the token's iss.")
    var provider: String?

    @Option(help: "The raw nonce of this sign-in.")
    var nonce: String?

    @Option(
        help:
            "The client ID that this sign-in was for, one of the provider's audiences; with --preset, the provider's only one."
    )
    var audience: String?

    @Option(help: "Maximum age of the user's authentication, in seconds.")
    var maxAge: Int64?

    @Option(help: "The access token that came with the ID Token. Its hash must match at_hash.")
    var accessToken: String?

    @Option(help: "The authorization code that came with the ID Token. Its hash must match c_hash.")
    var code: String?

    @Option(help: "The subject of the expected user.")
    var subject: String?

    @Option(help: "The issuer of that subject; required if the provider has an issuer for each tenant.")
    var issuer: String?

    @Option(help: "Refuse authentications before this Unix time, in seconds.")
    var authenticatedAfter: Int64?

    /// Whether no option is given.
    var isEmpty: Bool { provider == nil && audience == nil && isWithoutSignIn }

    /// Whether no option is given but those that select the provider and its client.
    var isWithoutSignIn: Bool {
        [nonce, accessToken, code, subject, issuer].allSatisfy { $0 == nil }
            && maxAge == nil && authenticatedAfter == nil
    }

    /// The request for a verification in this process.
    ///
    /// - Parameter preset: the id of a preset's provider; `nil` for the one that the option names, if any.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    func request(
        for token: String, provider preset: String? = nil, includingClaims: Bool = false
    ) throws(Problem) -> VerifyRequest {
        var parameters = VerificationParameters(
            nonce: nonce, audience: audience, maximumAuthenticationAgeSeconds: maxAge, accessToken: accessToken,
            code: code)
        parameters.authenticatedAfter = authenticatedAfter.map(UnixTime.init(seconds:))
        parameters.expectedSubject = subject.map { ExpectedSubject(subject: $0, issuer: issuer) }
        return try VerifyRequest(
            idToken: token, provider: preset ?? provider, parameters: parameters, includesClaims: includingClaims)
    }

    /// The body of a request to a running instance.
    func body(for token: String) -> [UInt8] {
        let texts: [(name: StaticString, value: String?)] = [
            ("id_token", token), ("provider", provider), ("nonce", nonce), ("audience", audience),
            ("access_token", accessToken), ("code", code), ("subject", subject), ("issuer", issuer),
        ]
        var json = JSONWriter()
        json.object { json in
            for case (let name, let value?) in texts { json.member(name, value) }
            if let maxAge { json.member("max_age", maxAge) }
            if let authenticatedAfter { json.member("authenticated_after", authenticatedAfter) }
        }
        return json.bytes
    }

    /// The token from standard input, without the trailing line feed that a shell adds. Everything else belongs to the token.
    static func tokenFromStandardInput() -> String {
        var text = ""
        while let line = readLine(strippingNewline: false) { text += line }
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}
