import ArgumentParser
import IDToken
import JOSE
import OpenSSL
import Settings
import Verification

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one ID Token from standard input.",
        discussion: """
            Prints the response of POST /v1/verify. The exit code is 0 for an identity, and 1 for a problem.

              assay verify --config assay.yaml --provider apple --nonce "$nonce" < token.txt
              assay verify --preset apple --audience com.example.app --nonce "$nonce" < token.txt
            """)

    @OptionGroup var source: SettingsSource

    @OptionGroup var signIn: SignInOptions

    @Flag(help: "Add the token's verified claims.")
    var includeClaims = false

    func validate() throws {
        guard source.preset == nil || signIn.provider == nil else {
            throw ValidationError("--preset selects the provider; omit --provider")
        }
    }

    func run() async throws {
        let (settings, provider) = try source.settings(audience: signIn.audience)
        let token = SignInOptions.tokenFromStandardInput()
        let application = try Application(forOneCall: settings, of: token)
        let request: VerifyRequest
        do throws(Problem) {
            request = try signIn.request(for: token, provider: provider, includingClaims: includeClaims)
        } catch {
            print(String(decoding: SingleVerification.Answer(error).text, as: UTF8.self))
            throw ExitCode(1)
        }
        let verification = try await application.singleVerification()
        defer { verification.stop() }
        let answer = try await verification.verify(request)
        print(String(decoding: answer.text, as: UTF8.self))
        // The service would write these failures to its log.
        if case .keysUnavailable = answer.problem {
            for failure in try await verification.keyFailures() { printToStandardError(failure) }
        }
        if answer.problem != nil { throw ExitCode(1) }
    }
}

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

/// The key with which a command opens an encrypted token.
struct DecryptionKeyOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with the private key (PEM) that opens an encrypted token, to explain what is inside.",
            valueName: "file"))
    var decryptionKey: String?

    /// The signed token inside an encrypted one; any other token unchanged.
    ///
    /// - Throws: ``ConfigurationError`` if the file can't be used, or the token can't be opened.
    func opened(_ token: String) throws -> String {
        guard let decryptionKey else { return token }
        let key = try CredentialFile(path: decryptionKey, name: "--decryption-key").decryptionKey()
        do throws(JWEError) {
            let jwe = try CompactJWE(Array(token.utf8)[...])
            // The command line names the key's file, so its key is used whatever its ID.
            let named = EncryptionKey(
                id: jwe.header.keyID ?? "", key, KeyManagementAlgorithm.allCases.filter { $0.fits(key.kind) })
            let decrypter = JWEDecrypter(
                [named].compactMap(\.self), algorithms: Set(KeyManagementAlgorithm.allCases),
                content: Set(ContentAlgorithm.allCases))
            return String(decoding: try decrypter.decrypt(jwe), as: UTF8.self)
        } catch {
            let reason =
                switch error {
                case .malformed:
                    "it is not an encrypted token (five parts of unpadded base64url); omit --decryption-key"
                case .headerUnsupported:
                    "its header has crit, b64, zip or a cty other than JWT, which the service refuses"
                case .algorithmNotAllowed: "its alg or enc is one that the service always refuses"
                case .decryptionFailed:
                    "it was encrypted to another key, or changed; name the file of the key in its kid"
                case .cryptographyUnavailable: "OpenSSL is out of memory"
                }
            throw ConfigurationError("the token can't be opened with \(decryptionKey): \(reason)")
        }
    }
}

extension Settings {
    /// The settings for a token that has been opened already.
    var withoutEncryption: Settings {
        var settings = self
        settings.clientKeys = []
        for index in settings.providers.indices { settings.providers[index].encryption = nil }
        return settings
    }
}
