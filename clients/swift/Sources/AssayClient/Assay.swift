import Foundation

/// Verifies ID Tokens and finishes sign-ins with Assay. One for the whole program.
///
/// Every call throws `AssayError`. A call is sent again only if nothing was used up: because the connection could not be opened, or
/// Assay answered 503 and says so; and calls that use nothing up, also after a lost answer. `Retry-After` is honoured, and no attempt
/// starts later than `retryFor` after the call. So a call takes at most `retryFor` and one timeout.
public final class Assay: Sendable {
    /// How to call Assay.
    public struct Options: Sendable {
        public var apiKey: String?
        /// Read for each call, so the key can be changed without a restart.
        public var apiKeyFile: String?
        /// How long an attempt may take.
        public var timeout: Duration = .seconds(6)
        /// The same for calls that wait for a provider: `finish`, `refresh`, `revoke`.
        public var finishTimeout: Duration = .seconds(12)
        /// The time after the call in which another attempt may start; zero for none.
        public var retryFor: Duration = .seconds(5)

        public init(apiKey: String? = nil, apiKeyFile: String? = nil) {
            self.apiKey = apiKey
            self.apiKeyFile = apiKeyFile
        }
    }

    private let options: Options
    private let transport: any Transport

    /// The URL is neither `http://…` nor `unix:/path`. For TLS, give the client a transport that has it.
    public struct UnsupportedURL: Error, CustomStringConvertible {
        public var url: String

        public var description: String {
            "the URL must begin with http:// or unix:, or the client needs a transport that has TLS; found \"\(url)\""
        }
    }

    /// The API key's file is empty, or can't be read.
    public struct APIKeyUnavailable: Error, CustomStringConvertible {
        public var file: String

        public var description: String { "the API key's file \(file) is empty, or can't be read" }
    }

    /// A client of `http://…` or `unix:/path`. Throws `UnsupportedURL`.
    public convenience init(_ url: String = "http://127.0.0.1:8080", options: Options = Options()) throws {
        self.init(transport: try Self.transport(for: url), options: options)
    }

    /// A client with a transport of its own, such as `FakeTransport`.
    public init(transport: any Transport, options: Options = Options()) {
        self.transport = transport
        self.options = options
    }

    private static func transport(for url: String) throws -> any Transport {
        if url.hasPrefix("unix:") {
            return SocketTransport(.unix(path: String(url.dropFirst("unix:".count))), host: "localhost", prefix: "")
        }
        guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host, !host.isEmpty
        else {
            throw UnsupportedURL(url: url)
        }
        let port = parts.port ?? 80
        let bare = host.trimmingCharacters(in: ["[", "]"])
        let written = bare.contains(":") ? "[\(bare)]:\(port)" : "\(bare):\(port)"
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        return SocketTransport(.tcp(host: bare, port: port), host: written, prefix: path)
    }

    /// Begins the sign-in of an app.
    public func begin(_ provider: String, _ options: BeginOptions = BeginOptions()) async throws -> BegunSignIn {
        try await call("/v1/sign-ins", ["provider": .string(provider)], options, success: 201)
    }

    /// Begins a sign-in in the browser. The client of the provider's settings must list `redirectURI`.
    public func beginInBrowser(
        _ provider: String, redirectURI: String, _ options: BeginBrowserOptions = BeginBrowserOptions()
    ) async throws -> BegunBrowserSignIn {
        let members: [String: JSONValue] = ["provider": .string(provider), "redirect_uri": .string(redirectURI)]
        return try await call("/v1/sign-ins", members, options, success: 201)
    }

    /// Finishes the sign-in of an app. An ID Token or a `code` is required.
    public func finish(
        _ signIn: String, idToken: String?, _ options: FinishOptions = FinishOptions()
    ) async throws -> FinishedSignIn {
        var members: [String: JSONValue] = ["sign_in": .string(signIn)]
        members["id_token"] = idToken.map { .string($0) }
        return try await call("/v1/sign-ins/finish", members, options, usesUp: true)
    }

    /// Finishes a sign-in in the browser. `response`: all parameters that `redirectURI` received.
    public func finishInBrowser(
        _ signIn: String, response: [String: String], redirectURI: String,
        _ options: FinishBrowserOptions = FinishBrowserOptions()
    ) async throws -> FinishedSignIn {
        let members: [String: JSONValue] = [
            "sign_in": .string(signIn), "response": .object(response.mapValues { .string($0) }),
            "redirect_uri": .string(redirectURI),
        ]
        return try await call("/v1/sign-ins/finish", members, options, usesUp: true)
    }

    /// Redeems a refresh token. Store `grant.refreshToken`, if there is one, before anything else.
    public func refresh(
        _ provider: String, refreshToken: String, subject: String, _ options: RefreshOptions = RefreshOptions()
    ) async throws -> Refreshed {
        let members: [String: JSONValue] = [
            "provider": .string(provider), "refresh_token": .string(refreshToken), "subject": .string(subject),
        ]
        return try await call("/v1/grants/refresh", members, options, usesUp: true)
    }

    /// Revokes a token. It is safe to revoke one again.
    public func revoke(_ provider: String, token: String, _ options: RevokeOptions = RevokeOptions()) async throws {
        let members: [String: JSONValue] = ["provider": .string(provider), "token": .string(token)]
        let _: Nothing = try await call("/v1/grants/revoke", members, options, success: 204, isSlow: true)
    }

    /// Exchanges the code of a native sign-in, and revokes its tokens.
    public func revokeCode(
        _ provider: String, code: String, _ options: RevokeCodeOptions = RevokeCodeOptions()
    ) async throws {
        let members: [String: JSONValue] = ["provider": .string(provider), "code": .string(code)]
        let _: Nothing = try await call("/v1/grants/revoke", members, options, success: 204, usesUp: true)
    }

    /// Makes the DPoP proof for a call with the access token of a bound grant. Each call needs a new one.
    public func proof(
        _ provider: String, binding: String, accessToken: String, method: String, url: String,
        _ options: ProofOptions = ProofOptions()
    ) async throws -> Proof {
        let members: [String: JSONValue] = [
            "provider": .string(provider), "binding": .string(binding), "access_token": .string(accessToken),
            "method": .string(method), "url": .string(url),
        ]
        return try await call("/v1/grants/proof", members, options)
    }

    /// Where the user signs out at the provider. End your own session first.
    public func signOut(_ provider: String, _ options: SignOutOptions = SignOutOptions()) async throws -> SignOut {
        try await call("/v1/sign-outs", ["provider": .string(provider)], options)
    }

    /// Verifies an ID Token, without `begin` and `finish`. `nonce`: `nil` only if the sign-in has none. `singleUse`: the provider has
    /// `nonce.single_use` in Assay's settings.
    public func verify(
        _ idToken: String, nonce: String?, _ options: VerifyOptions = VerifyOptions(), singleUse: Bool = false
    ) async throws -> Verified {
        var members: [String: JSONValue] = ["id_token": .string(idToken)]
        members["nonce"] = nonce.map { .string($0) }
        return try await call("/v1/verify", members, options, usesUp: singleUse, isSlow: false)
    }

    /// Verifies an access token that your API got. A `dpop` proof can be used once.
    public func verifyAccessToken(
        _ token: String, _ options: AccessTokenOptions = AccessTokenOptions()
    ) async throws -> VerifiedAccessToken {
        let usesUp = options.dpop != nil
        return try await call(
            "/v1/access-tokens/verify", ["token": .string(token)], options, usesUp: usesUp, isSlow: false)
    }

    /// The metadata of a resource of Assay's settings (RFC 9728). Serve it as it is.
    public func resourceMetadata(_ resource: String) async throws -> [String: JSONValue] {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-"))
        let id = resource.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        let metadata: Metadata = try await call("/v1/resources/\(id)/metadata", nil, Nothing())
        return metadata.members
    }

    /// Verifies a logout token, a security event, or Apple's `payload`.
    public func verifyNotification(
        _ token: String, provider: String? = nil, _ options: NotificationOptions = NotificationOptions()
    ) async throws -> VerifiedNotification {
        try await verifyNotification("token", .string(token), provider, options)
    }

    /// Verifies the body that Apple sent, an object with `payload`.
    public func verifyAppleNotification(
        _ body: JSONValue, provider: String? = nil, _ options: NotificationOptions = NotificationOptions()
    ) async throws -> VerifiedNotification {
        try await verifyNotification("payload", body, provider, options)
    }

    private func verifyNotification(
        _ name: String, _ value: JSONValue, _ provider: String?, _ options: NotificationOptions
    ) async throws -> VerifiedNotification {
        var members = [name: value]
        members["provider"] = provider.map { .string($0) }
        return try await call("/v1/notifications/verify", members, options)
    }
}

extension Assay {
    private struct Nothing: Codable {}

    /// A resource's metadata, whose other members the settings choose.
    private struct Metadata: Decodable {
        var members: [String: JSONValue]

        init(from decoder: any Decoder) throws {
            members = try [String: JSONValue](from: decoder)
            guard members["resource"]?.string != nil else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not Assay's"))
            }
        }
    }

    /// The members of a call and of its options, in one object.
    private struct Body: Encodable {
        var members: [String: JSONValue]
        var options: any Encodable

        struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            try options.encode(to: encoder)
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in members { try container.encode(value, forKey: Name(name)) }
        }
    }

    /// `usesUp`: it is sent over a new connection, and not again after a lost answer. `isSlow`: Assay may wait for the provider.
    private func call<Answer: Decodable>(
        _ path: String, _ members: [String: JSONValue]?, _ options: any Encodable, success: Int = 200,
        usesUp: Bool = false,
        isSlow: Bool? = nil
    ) async throws -> Answer {
        let body = try members.map { Array(try JSONEncoder().encode(Body(members: $0, options: options))) } ?? []
        let headers = try headers(hasBody: members != nil)
        let timeout = isSlow ?? usesUp ? self.options.finishTimeout : self.options.timeout
        let end = transport.now() + self.options.retryFor
        var lost = 0
        while true {
            let problem: AssayError
            let wait: Duration
            do {
                let reply = try await transport.send(
                    path: path, body: body, headers: headers, timeout: timeout, once: usesUp)
                if reply.status == success { return try Self.read(reply, usesUp) }
                problem = Self.problem(reply, usesUp)
                wait = .seconds(problem.retryAfter ?? 1)
            } catch let failure as NoAnswer {
                let members = failure.detail.map { ["detail": JSONValue.string($0)] } ?? [:]
                problem = AssayError(status: 0, spent: usesUp && failure.sent, members: members)
                wait = min(.milliseconds(50) * ((1 << min(lost, 5)) - 1), .seconds(1))
                lost += 1
            }
            guard problem.mayRetry, transport.now() + wait <= end else { throw problem }
            try await transport.sleep(wait)
        }
    }

    private func headers(hasBody: Bool) throws -> [(String, String)] {
        var key = options.apiKey
        if let file = options.apiKeyFile {
            let text = try? String(contentsOfFile: file, encoding: .ascii)
            key = text?.trimmingCharacters(in: .whitespacesAndNewlines)
            guard let key, !key.isEmpty else { throw APIKeyUnavailable(file: file) }
        }
        let type = hasBody ? [("Content-Type", "application/json")] : []
        return type + (key.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    private static func read<Answer: Decodable>(_ reply: Reply, _ usesUp: Bool) throws -> Answer {
        if let nothing = Nothing() as? Answer { return nothing }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(reply.body)) else {
            throw AssayError(status: reply.status, spent: usesUp)
        }
        return answer
    }

    private static func problem(_ reply: Reply, _ usesUp: Bool) -> AssayError {
        let members = (try? JSONDecoder().decode([String: JSONValue].self, from: Data(reply.body))) ?? [:]
        let code = members["code"]?.string
        let said = members["spent"]?.bool
        // Assay's verifications don't say. What is not Assay's answer may stand in the place of one.
        let isEarly = [Code.keysUnavailable, Code.overloaded, Code.shuttingDown].contains(code)
        let spent = said ?? (code == nil || reply.status == 503 && !isEarly)
        // A verification needs the store only for a single-use nonce or a proof.
        let mayBe = usesUp || said == nil && code == Code.storeUnavailable
        return AssayError(status: reply.status, spent: mayBe && spent, retryAfter: reply.retryAfter, members: members)
    }
}
