import ArgumentParser
import FoundationEssentials
import Glibc
import HTTP
import IDToken
import JOSE
import Settings
import TokenDiagnostics
import Verification

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain why a token is refused.",
        discussion: """
            Runs every check on a token and continues after a failure. Prints the most likely cause and the fix, then \
            each check with what was expected and what was found. Secrets are shown as a length and the start of a \
            hash, personal claims only as a length. The exit code is 0 if the token is valid, and 1 otherwise.

              assay explain --config assay.yaml --provider apple --nonce "$nonce" < token.txt
              assay explain --preset apple --audience com.example.app < token.txt
              assay explain --server http://127.0.0.1:9090 --api-key-file key.txt < token.txt
              assay explain --config assay.yaml --tokens access --scope orders:read < token.txt
              assay explain --config assay.yaml --tokens notification < logout-token.txt
              assay explain --config assay.yaml --policy web < token.txt
              assay explain --config assay.yaml --provider bank --decryption-key enc.pem < encrypted.txt
            """)

    @OptionGroup var source: SettingsSource

    @OptionGroup var instance: RunningInstance

    @OptionGroup var kind: ExplainedKindOptions

    @OptionGroup var signIn: SignInOptions

    @OptionGroup var decryption: DecryptionKeyOption

    @Flag(help: "Print the response of POST /v1/explain, as JSON.")
    var json = false

    @Flag(help: "Show the values of all claims, including personal ones.")
    var showValues = false

    @Argument(
        help: ArgumentHelp(
            "The token. Omitted or -: read from standard input, where other users of the machine can't see it."))
    var token: String?

    func validate() throws {
        guard instance.server == nil || source.preset == nil && source.file.path == nil else {
            throw ValidationError("--server uses that instance's settings; omit --config and --preset")
        }
        guard source.preset == nil || signIn.provider == nil else {
            throw ValidationError("--preset selects the provider; omit --provider")
        }
        guard decryption.decryptionKey == nil || instance.server == nil else {
            throw ValidationError("--decryption-key opens the token in this process; omit --server")
        }
        try kind.validate(with: signIn)
    }

    func run() async throws {
        // Report faults before waiting for the token.
        let local =
            instance.server == nil
            ? try source.settings(
                audience: signIn.audience, verifiesAccessTokens: kind.tokens == .access, canAskServer: true) : nil
        let given = self.token.flatMap { $0 == "-" ? nil : $0 } ?? SignInOptions.tokenFromStandardInput()
        let token = try decryption.opened(given)
        var body: [UInt8]
        if let server = instance.server {
            let request = kind.isIDToken ? signIn.body(for: token) : kind.body(for: token, signIn)
            body = try await instance.post(request, to: "/v1/explain", at: server)
        } else if let local {
            // What was opened here is plain from now on.
            let settings = token == given ? local.settings : local.settings.withoutEncryption
            body = try await explain(token, settings, provider: local.provider)
        } else {
            return
        }
        var answer = try JSONTree(readingObject: body).object ?? [:]
        if showValues, let contents = try ownContents(of: token) {
            // Decoded in this process, which has the token, so that the instance never returns personal values.
            answer["token"] = contents
            var json = JSONWriter()
            json.value(JSONTree.object(answer))
            body = json.bytes
        }
        if json {
            print(String(decoding: body, as: UTF8.self))
        } else {
            let isColoured = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
            let text = ExplanationText(
                answer: answer, unixSeconds: SystemClocks.unixSeconds(), showsAllValues: showValues,
                isColoured: isColoured)
            for line in text.lines { print(line) }
        }
        if answer["valid"] != .bool(true) { throw ExitCode(1) }
    }

    /// The response of `POST /v1/explain`, from a verification in this process.
    private func explain(_ token: String, _ settings: Settings, provider: String?) async throws -> [UInt8] {
        let application = try Application(forOneCall: settings, of: token)
        let request: ExplainRequest
        do throws(Problem) {
            request = try self.request(for: token, provider: provider)
        } catch {
            return SingleVerification.Answer(error).text
        }
        let verification = try await application.singleVerification()
        defer { verification.stop() }
        return try await verification.explain(request).text
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private func request(for token: String, provider: String?) throws(Problem) -> ExplainRequest {
        guard !kind.isIDToken else { return .idToken(try signIn.request(for: token, provider: provider)) }
        guard let object = try? JSONObject(kind.body(for: token, signIn, provider: provider)) else {
            throw .requestInvalid("The token must be UTF-8 text.")
        }
        return try ExplainRequest(object, nil, for: [])
    }

    /// The token's contents, not masked; `nil` if it can't be read.
    private func ownContents(of token: String) throws -> JSONTree? {
        let now = UnixTime(seconds: SystemClocks.unixSeconds())
        guard let contents = TokenContents(ofOwnToken: token, now: now) else { return nil }
        var json = JSONWriter()
        contents.write(to: &json)
        return try JSONTree(readingObject: json.bytes)
    }
}

/// Options that select the kind of token to explain, if it is not an ID Token.
struct ExplainedKindOptions: ParsableArguments {
    enum Kind: String, ExpressibleByArgument {
        case id, access, notification
    }

    @Option(
        help:
            "What the token is verified as: id (an ID Token), access (an access token or a gateway's assertion) or notification (such as a logout token)."
    )
    var tokens = Kind.id

    @Option(
        name: .customLong("scope"),
        help: "With --tokens access: a scope that the token must grant. Repeat for more.")
    var scopes: [String] = []

    @Option(help: "Explain what the forward-auth policy with this id decides on the token.")
    var policy: String?

    var isIDToken: Bool { tokens == .id && policy == nil }

    /// Rejects options that have no effect.
    func validate(with signIn: SignInOptions) throws {
        guard scopes.isEmpty || tokens == .access else { throw ValidationError("--scope needs --tokens access") }
        if policy != nil {
            guard tokens == .id, signIn.isEmpty else {
                throw ValidationError("--policy decides on the token alone; omit the other options of the sign-in")
            }
        } else if tokens == .notification {
            guard signIn.isWithoutSignIn else {
                throw ValidationError(
                    "--tokens notification takes no options of a sign-in but --provider; omit the others")
            }
        } else if tokens == .access {
            guard signIn.nonce == nil, signIn.maxAge == nil, signIn.accessToken == nil, signIn.code == nil else {
                throw ValidationError(
                    "--nonce, --max-age, --access-token and --code are for ID Tokens; omit them with --tokens access")
            }
        }
    }

    /// The body of `POST /v1/explain` for anything but an ID Token.
    ///
    /// - Parameter preset: the id of a preset's provider; `nil` for the one that the option names, if any.
    func body(for token: String, _ signIn: SignInOptions, provider preset: String? = nil) -> [UInt8] {
        var texts: [(name: StaticString, value: String?)] = [("token", token), ("policy", policy)]
        if tokens == .notification {
            texts += [("as", ExplainRequest.Kind.notification.rawValue), ("provider", preset ?? signIn.provider)]
        } else if policy == nil {
            texts += [
                ("provider", preset ?? signIn.provider), ("audience", signIn.audience), ("subject", signIn.subject),
                ("issuer", signIn.issuer),
            ]
        }
        var json = JSONWriter()
        json.object { json in
            for case (let name, let value?) in texts { json.member(name, value) }
            if let authenticatedAfter = signIn.authenticatedAfter {
                json.member("authenticated_after", authenticatedAfter)
            }
            if !scopes.isEmpty { json.array("scopes", scopes) }
        }
        return json.bytes
    }
}

/// The response of `POST /v1/explain` as text for a terminal: the verdict and its likeliest cause, the checks, then the
/// token's contents.
private struct ExplanationText {
    /// An explanation, or a problem.
    let answer: [String: JSONTree]
    /// The current time.
    let unixSeconds: Int64
    /// Whether the values in `token` are not masked.
    let showsAllValues: Bool
    let isColoured: Bool

    var lines: [String] {
        guard answer["checks"]?.array != nil else {
            return [
                [answer["detail"]?.string, answer["code"]?.string.map { "(\($0))" }].compactMap(\.self).joined(
                    separator: " ")
            ]
        }
        return verdict + [""] + checkLines + keyLines + contentLines
    }

    private var checks: [[String: JSONTree]] { (answer["checks"]?.array ?? []).compactMap(\.object) }

    // MARK: Verdict

    private var verdict: [String] {
        let isValid = answer["valid"] == .bool(true)
        let provider = answer["provider"]?.string.map { " (provider \($0))" } ?? ""
        let verdict = isValid ? "valid" : "refused: " + (answer["code"]?.string ?? "")
        var lines = [styled(verdict, isValid ? .green : .red) + provider, answer["summary"]?.string ?? ""]
        if let fix = answer["likely_cause"]?.object?["fix"]?.string { lines.append("Fix: " + fix) }
        return lines
    }

    // MARK: Checks

    private static let indent = String(repeating: " ", count: 14)

    private var checkLines: [String] {
        let made = checks.filter { ["passed", "failed"].contains(Self.state($0)) }
        var lines = made.flatMap(lines(of:))
        lines += folded("not_reached") + folded("not_asked")
        if made.contains(where: { ($0["explanation"]?.string ?? "").hasSuffix(Explanation.unverifiedNote) }) {
            lines += ["", "The signature is not verified: anyone could have written what the claims say."]
        }
        return lines
    }

    private func lines(of check: [String: JSONTree]) -> [String] {
        let state = Self.state(check)
        let name = (check["name"]?.string ?? "").padded(to: 18)
        let first = styled(state.padded(to: 12), Self.style(state)) + "  " + name
        var explanation = check["explanation"]?.string ?? ""
        // Printed once for all checks.
        if explanation.hasSuffix(Explanation.unverifiedNote) {
            explanation.removeLast(Explanation.unverifiedNote.count)
        }
        guard state == "failed" else { return [first + explanation] }
        let code = check["code"]?.string ?? ""
        let details = ["expected", "found", "fix"].compactMap { member in
            check[member]?.string.map { Self.indent + (member + ":").padded(to: 10) + " " + $0 }
        }
        return [first + explanation + " (\(code))"] + details
    }

    /// The checks that were not made, on one line.
    private func folded(_ state: String) -> [String] {
        let names = checks.filter { Self.state($0) == state }.compactMap { $0["name"]?.string }
        guard !names.isEmpty else { return [] }
        // `not_asked` is the name in the API; the text says what it means.
        let words = state == "not_asked" ? "not enabled" : state.replacing("_", with: " ")
        let label = styled(words.padded(to: 12), Self.style(state)) + "  "
        let longest = 10
        return [label + (names.count > longest ? "the other \(names.count) checks" : names.joined(separator: ", "))]
    }

    private static func state(_ check: [String: JSONTree]) -> String { check["state"]?.string ?? "" }

    // MARK: Keys

    private var keyLines: [String] {
        guard let keys = answer["keys"]?.object else { return [] }
        var parts = [keys["state"]?.string ?? ""]
        if let source = keys["source"]?.string { parts.append("from " + source) }
        if let fetchedAt = keys["fetched_at"]?.integer { parts.append("fetched at " + time(fetchedAt)) }
        var lines = ["", "Keys: " + parts.joined(separator: ", ")]
        if let error = keys["last_error"]?.object {
            let phase = error["phase"]?.string ?? ""
            lines.append("  The last fetch failed (\(phase)): \(error["message"]?.string ?? "").")
        }
        return lines
    }

    private func time(_ seconds: Int64) -> String {
        Redaction.time(UnixTime(seconds: seconds), now: UnixTime(seconds: unixSeconds))
    }

    // MARK: Token contents

    private var contentLines: [String] {
        guard let token = answer["token"]?.object else { return [] }
        let claims = members(token["claims"])
        let hasMasked = claims.contains { $0["masked"] == .bool(true) }
        let note = hasMasked && !showsAllValues ? " (values in brackets are masked; --show-values shows them)" : ""
        return ["", "Header"] + lines(of: members(token["header"])) + ["", "Claims" + note] + lines(of: claims)
    }

    private func members(_ value: JSONTree?) -> [[String: JSONTree]] { (value?.array ?? []).compactMap(\.object) }

    private func lines(of members: [[String: JSONTree]]) -> [String] {
        let width = min(members.map { ($0["name"]?.string ?? "").count }.max() ?? 0, 30)
        return members.map { member in
            let value = member["value"]?.string ?? ""
            let isMasked = member["masked"] == .bool(true)
            return "  " + (member["name"]?.string ?? "").padded(to: width) + "  "
                + (isMasked ? styled("[\(value)]", .faint) : value)
        }
    }

    // MARK: Colour

    /// Parameters of SGR (ECMA-48).
    private enum Style: String {
        case green = "32"
        case red = "1;31"
        case yellow = "33"
        case faint = "2"
    }

    private static func style(_ state: String) -> Style {
        switch state {
        case "passed": .green
        case "failed": .red
        case "not_reached": .yellow
        default: .faint
        }
    }

    private func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }
}
