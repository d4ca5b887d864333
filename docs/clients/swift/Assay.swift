import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOPosix

/// Who signed in. `issuer` and `subject` together are the key under which to store the user.
public struct Identity: Codable, Sendable {
    public let provider: String
    public let issuer: String
    public let subject: String
    public let email: String?
    public let emailVerified: Bool?
    public let emailTrust: String?
    public let isPrivateEmail: Bool?
    public let name: String?
    public let givenName: String?
    public let familyName: String?
    public let nameSource: String?
    public let preferredUsername: String?
    public let picture: String?
    public let locale: String?
    public let realUserStatus: String?
    public let transferSubject: String?
    public let tenant: String?
    public let hostedDomain: String?
}

/// The parameters of the sign-in; only `provider` is required.
public struct BeginRequest: Codable, Sendable {
    public var provider: String
    public var audience: String?
    public var maxAge: Int?
    /// The only user who can finish it, and the issuer of this subject.
    public var subject: String?
    public var issuer: String?
    /// The finish returns it.
    public var context: String?
    /// In seconds.
    public var expiresIn: Int?

    // Only for `beginInBrowser`. `redirectURI` is one of the client's `redirect_uris` in Assay's settings.
    public var redirectURI: String?
    public var scopes: [String]?
    public var prompt: String?
    public var loginHint: String?
    public var uiLocales: String?
    public var acrValues: String?
    public var responseMode: String?

    private enum CodingKeys: String, CodingKey {
        case provider, audience, subject, issuer, context, scopes, prompt
        case maxAge = "max_age"
        case expiresIn = "expires_in"
        case redirectURI = "redirect_uri"
        case loginHint = "login_hint"
        case uiLocales = "ui_locales"
        case acrValues = "acr_values"
        case responseMode = "response_mode"
    }

    public init(provider: String) { self.provider = provider }
}

/// A sign-in to be finished before `expiresAt` (Unix seconds). The app gives the provider `nonceSHA256` or `nonce`.
///
/// `signIn` stays with this one app or browser, in the app's memory or in a `__Host-` cookie. Never log it, put it into a
/// URL, or look it up by a value from a request.
public struct BegunSignIn: Codable, Sendable, CustomStringConvertible {
    public let signIn: String
    public let nonce: String
    public let nonceSHA256: String
    public let expiresAt: Int

    private enum CodingKeys: String, CodingKey {
        case signIn, nonce, expiresAt
        case nonceSHA256 = "nonceSha256"
    }

    /// Without secrets.
    public var description: String { "sign-in until \(expiresAt)" }
}

/// A sign-in to be finished before `expiresAt` (Unix seconds). Redirect the browser to `authorizationURL`.
///
/// `signIn` stays with this one browser, in a `__Host-` cookie whose name ends in `state`. Never log it or put it into a URL.
public struct BegunBrowserSignIn: Codable, Sendable, CustomStringConvertible {
    public let signIn: String
    public let state: String
    public let authorizationURL: String
    public let expiresAt: Int

    private enum CodingKeys: String, CodingKey {
        case signIn, state, expiresAt
        case authorizationURL = "authorizationUrl"
    }

    /// Without secrets.
    public var description: String { "sign-in until \(expiresAt)" }
}

/// The `sign_in` that the app kept, and the provider's ID Token, code, or both.
public struct FinishRequest: Codable, Sendable, CustomStringConvertible {
    public var signIn: String
    public var idToken: String?
    public var accessToken: String?
    public var code: String?
    /// The redirect URI with which the app got the code, if any.
    public var redirectURI: String?
    public var user: AppleUser?

    private enum CodingKeys: String, CodingKey {
        case code, user
        case signIn = "sign_in"
        case idToken = "id_token"
        case accessToken = "access_token"
        case redirectURI = "redirect_uri"
    }

    public init(signIn: String, idToken: String?, user: AppleUser? = nil) {
        self.signIn = signIn
        self.idToken = idToken
        self.user = user
    }

    /// Without secrets.
    public var description: String { "finish of a sign-in" }
}

/// The cookie's `sign_in`, and all parameters that the redirect URI received.
public struct FinishBrowserRequest: Codable, Sendable, CustomStringConvertible {
    public var signIn: String
    public var response: [String: String]
    /// The redirect URI that received them.
    public var redirectURI: String?

    private enum CodingKeys: String, CodingKey {
        case response
        case signIn = "sign_in"
        case redirectURI = "redirect_uri"
    }

    public init(signIn: String, response: [String: String], redirectURI: String? = nil) {
        self.signIn = signIn
        self.response = response
        self.redirectURI = redirectURI
    }

    /// Without secrets.
    public var description: String { "finish of a sign-in" }
}

/// Sign this user in. `context` is the begin call's; `grant` is set if a code was exchanged.
public struct FinishedSignIn: Codable, Sendable {
    public let identity: Identity
    public let context: String?
    public let grant: Grant?
}

/// The provider's tokens, for the backend only: never log them, or send them to an app or a page.
///
/// Store a refresh token with the provider, audience, issuer and subject of its sign-in. If `refreshToken` is `nil` after a
/// refresh, the old one stays valid. If `scopes` is `nil`, the provider granted those that were requested.
public struct Grant: Codable, Sendable, CustomStringConvertible {
    public let accessToken: String
    public let tokenType: String
    public let expiresAt: Int?
    public let refreshToken: String?
    public let scopes: [String]?
    public let idToken: String?

    /// Without secrets.
    public var description: String { "grant" }
}

/// The values that you stored with the refresh token. `audience` is required if the provider has several clients.
public struct RefreshRequest: Codable, Sendable, CustomStringConvertible {
    public var provider: String
    public var refreshToken: String
    public var subject: String
    public var issuer: String?
    public var audience: String?
    public var scopes: [String]?

    private enum CodingKeys: String, CodingKey {
        case provider, subject, issuer, audience, scopes
        case refreshToken = "refresh_token"
    }

    public init(provider: String, refreshToken: String, subject: String) {
        self.provider = provider
        self.refreshToken = refreshToken
        self.subject = subject
    }

    /// Without secrets.
    public var description: String { "refresh of a grant" }
}

/// Store the new refresh token, if there is one, before anything else: the old one may be used up.
///
/// `identity` is `nil` if the provider sent no ID Token, or if Assay has no keys to verify it: then `problem` is
/// `keys_unavailable`.
public struct Refreshed: Codable, Sendable {
    public let grant: Grant
    public let identity: Identity?
    public let problem: String?
}

/// `audience` is required if the provider has several clients.
public struct RevokeRequest: Codable, Sendable, CustomStringConvertible {
    public var provider: String
    public var token: String
    public var tokenTypeHint: String?
    public var audience: String?

    private enum CodingKeys: String, CodingKey {
        case provider, token, audience
        case tokenTypeHint = "token_type_hint"
    }

    public init(provider: String, token: String) {
        self.provider = provider
        self.token = token
    }

    /// Without secrets.
    public var description: String { "revocation of a token" }
}

/// With `subject`, a code of another user is refused.
public struct RevokeByCodeRequest: Codable, Sendable, CustomStringConvertible {
    public var provider: String
    public var code: String
    public var redirectURI: String?
    public var audience: String?
    public var subject: String?
    public var issuer: String?

    private enum CodingKeys: String, CodingKey {
        case provider, code, audience, subject, issuer
        case redirectURI = "redirect_uri"
    }

    public init(provider: String, code: String) {
        self.provider = provider
        self.code = code
    }

    /// Without secrets.
    public var description: String { "revocation by code" }
}

/// For `verify`, without `begin` and `finish`.
public struct SignIn: Codable, Sendable {
    public var provider: String
    public var idToken: String
    /// The nonce that this backend generated for this sign-in.
    public var nonce: String?
    public var audience: String?
    public var maxAge: Int?
    public var accessToken: String?
    public var code: String?
    public var user: AppleUser?
    public var subject: String?
    public var issuer: String?
    public var authenticatedAfter: Int?

    private enum CodingKeys: String, CodingKey {
        case provider, nonce, audience, code, user, subject, issuer
        case idToken = "id_token"
        case maxAge = "max_age"
        case accessToken = "access_token"
        case authenticatedAfter = "authenticated_after"
    }

    public init(provider: String, idToken: String, nonce: String?) {
        self.provider = provider
        self.idToken = idToken
        self.nonce = nonce
    }
}

/// The object that Apple gives the app at a user's first sign-in.
public struct AppleUser: Codable, Sendable {
    public struct Name: Codable, Sendable {
        public var firstName: String?
        public var lastName: String?
    }
    public var name: Name?
    public var email: String?
}

/// A provider's notification: either `token`, or `payload` of the body that Apple sent.
public struct NotificationRequest: Codable, Sendable {
    public var token: String?
    public var payload: String?
    public var provider: String?
}

/// What happened. `subject` is the user's, as in `Identity`. Add a member `data`, of a type of your own, for the rest of the
/// event.
public struct Event: Codable, Sendable {
    public let type: String
    public let subject: String?
    public let sessionId: String?
    public let email: String?
    public let isPrivateEmail: Bool?
    public let occurredAt: Int?
    public let reason: String?
}

/// A verified notification. `provider` and `id` together are the same for repeated deliveries.
public struct Notification: Sendable {
    public let provider: String
    public let issuer: String
    public let kind: String
    public let id: String
    public let issuedAt: Int
    public let events: [Event]
}

public enum Verdict: Sendable {
    case verified(Identity)

    /// Sign nobody in: this token will be refused every time. `claim` is the one missing or invalid.
    case refused(code: String, claim: String?, requestID: String)

    /// Assay cannot decide now. Unless the nonce is single-use, the same request may succeed after this many seconds.
    case unavailable(retryAfter: Int)
}

/// A problem. Without a response, `status` is 0 and `code` is `nil`.
///
/// `spent` is for a finish, a refresh or a revocation. If it is `false`, nothing was used up: at 0 or 503, the request may be
/// sent again, after `retryAfter` seconds if that is not `nil`. If it is `true`, the sign-in, code or refresh token is, or may
/// be, used up: begin a new sign-in, or get a new code. A refresh token is certainly used up only if `code` is
/// `grant_invalid`; otherwise, try it once more later.
///
/// `providerError` is the provider's error code. `context` is the begin call's, if the user or the provider
/// ended it (`sign_in_denied`, `provider_refused`): don't log it.
public struct AssayError: Error, CustomStringConvertible {
    public var status: Int
    public var code: String?
    public var requestID: String?
    public var spent = false
    public var retryAfter: Int?
    public var providerError: String?
    public var context: String?

    /// Without secrets.
    public var description: String {
        status == 0 ? "Assay did not answer" : "Assay answered \(status) \(code ?? ""), request \(requestID ?? "")"
    }
}

/// Signs users in with Assay. Swift 6 or later, async-http-client 1.37 or later. One for the whole program: its HTTP
/// clients keep the connections, until `shutdown`.
public struct Assay: Sendable {
    private let address: Address
    private let apiKey: String?
    private let timeout: TimeAmount
    private let finishTimeout: TimeAmount
    private let http: HTTPClient
    /// Each request over a new connection, which Assay has not closed as idle.
    private let once: HTTPClient

    private enum Address {
        case url(String)
        case socket(path: String)
    }

    /// - Parameters:
    ///   - url: May be `unix:/path`.
    ///   - timeout: A little longer than Assay waits for a provider.
    ///   - finishTimeout: The same, for a finish, a refresh and a revocation.
    public init(
        url: String = "http://127.0.0.1:8080", apiKey: String? = nil, timeout: TimeAmount = .seconds(6),
        finishTimeout: TimeAmount = .seconds(12)
    ) {
        address = url.hasPrefix("unix:") ? .socket(path: String(url.dropFirst(5))) : .url(url)
        self.apiKey = apiKey
        self.timeout = timeout
        self.finishTimeout = finishTimeout
        // Assay never redirects, and the token must not reach another host.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // If nothing listens there, the call fails at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(configuration: configuration)
        configuration.maximumUsesPerConnection = 1
        once = HTTPClient(configuration: configuration)
    }

    public func shutdown() async throws {
        try await http.shutdown()
        try await once.shutdown()
    }

    /// - Throws: `AssayError`; `CancellationError`.
    public func begin(_ request: BeginRequest) async throws -> BegunSignIn {
        try await ask("/v1/sign-ins", request, 201)
    }

    /// Begins a sign-in in the browser. `redirectURI` is required.
    ///
    /// - Throws: `AssayError`; `CancellationError`.
    public func beginInBrowser(_ request: BeginRequest) async throws -> BegunBrowserSignIn {
        try await ask("/v1/sign-ins", request, 201)
    }

    /// The request is sent only once.
    ///
    /// - Throws: `AssayError`; `CancellationError`, after which the sign-in may be used up.
    public func finish(_ request: FinishRequest) async throws -> FinishedSignIn {
        try await askOnce("/v1/sign-ins/finish", request)
    }

    /// The request is sent only once.
    ///
    /// - Throws: `AssayError`; `CancellationError`, after which the sign-in may be used up.
    public func finishInBrowser(_ request: FinishBrowserRequest) async throws -> FinishedSignIn {
        try await askOnce("/v1/sign-ins/finish", request)
    }

    /// The request is sent only once.
    ///
    /// - Throws: `AssayError`; `CancellationError`, after which the refresh token may be used up.
    public func refresh(_ request: RefreshRequest) async throws -> Refreshed {
        let answer: RefreshAnswer = try await askOnce("/v1/grants/refresh", request)
        return Refreshed(grant: answer.grant, identity: answer.identity, problem: answer.problem?.code)
    }

    /// - Throws: `AssayError`, never `spent`, since it is safe to revoke a token again; `CancellationError`.
    public func revoke(_ request: RevokeRequest) async throws {
        do {
            let _: NoContent = try await askOnce("/v1/grants/revoke", request)
        } catch var error as AssayError {
            error.spent = false
            throw error
        }
    }

    /// Exchanges the code, and revokes the tokens. The request is sent only once.
    ///
    /// - Throws: `AssayError`; `CancellationError`, after which the code may be used up.
    public func revokeByCode(_ request: RevokeByCodeRequest) async throws {
        let _: NoContent = try await askOnce("/v1/grants/revoke", request)
    }

    /// - Parameter singleUse: The provider has `nonce.single_use`, so the request is sent once.
    /// - Throws: `AssayError`; `CancellationError`.
    public func verify(_ signIn: SignIn, singleUse: Bool = false) async throws -> Verdict {
        let answer: Answer
        do {
            if singleUse {
                answer = try await post("/v1/verify", signIn, over: once, timeout: timeout)
            } else {
                answer = try await post("/v1/verify", signIn)
            }
        } catch is NoAnswer {
            return .unavailable(retryAfter: 1)
        }
        switch answer.status {
        case 200:
            guard let verified = answer.read(Verified.self) else { break }
            return .verified(verified.identity)
        case 422:
            guard let problem = answer.problem else { break }
            return .refused(code: problem.code, claim: problem.claim, requestID: problem.requestId)
        case 503:
            return .unavailable(retryAfter: answer.retryAfter ?? 1)
        default: break
        }
        throw answer.error()
    }

    /// - Throws: `AssayError`; `CancellationError`.
    public func notification(_ request: NotificationRequest) async throws -> Notification {
        let notified: Notified = try await ask("/v1/notifications/verify", request, 200)
        let notification = notified.notification
        return Notification(
            provider: notification.provider, issuer: notification.issuer, kind: notification.kind,
            id: notification.id, issuedAt: notification.issuedAt, events: notified.events)
    }

    private func ask<Members: Decodable>(
        _ path: String, _ request: some Encodable, _ success: Int
    ) async throws -> Members {
        let answer: Answer
        do {
            answer = try await post(path, request)
        } catch is NoAnswer {
            throw AssayError(status: 0)
        }
        guard answer.status == success, let members = answer.read(Members.self) else { throw answer.error() }
        return members
    }

    private func askOnce<Members: Decodable>(_ path: String, _ request: some Encodable) async throws -> Members {
        let answer: Answer
        do {
            answer = try await post(path, request, over: once, timeout: finishTimeout)
        } catch let error as NoAnswer {
            throw AssayError(status: 0, spent: !error.wasUnreachable)
        }
        let success = Members.self == NoContent.self ? 204 : 200
        guard answer.status == success, let members = answer.read(Members.self) else {
            // A response without `spent` is not Assay's, and the request may have arrived.
            throw answer.error(spent: answer.problem?.spent != false)
        }
        return members
    }

    /// A request without side effects, which is safe to resend.
    private func post(_ path: String, _ members: some Encodable) async throws -> Answer {
        do {
            return try await post(path, members, over: http, timeout: timeout)
        } catch let error as NoAnswer where error.wasClosed {
            // A reused connection was closed at that moment.
            return try await post(path, members, over: http, timeout: timeout)
        }
    }

    private func post(
        _ path: String, _ members: some Encodable, over http: HTTPClient, timeout: TimeAmount
    ) async throws -> Answer {
        var request: HTTPClientRequest
        switch address {
        case .url(let url): request = HTTPClientRequest(url: url + path)
        case .socket(let socket):
            request = HTTPClientRequest(url: URL(httpURLWithSocketPath: socket, uri: path)?.absoluteString ?? "")
            // async-http-client sends none over a socket.
            request.headers.add(name: "Host", value: "localhost")
        }
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if let apiKey { request.headers.add(name: "Authorization", value: "Bearer \(apiKey)") }
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(members)))
        do {
            let response = try await http.execute(request, timeout: timeout)
            return Answer(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) },
                body: Data(buffer: try await response.body.collect(upTo: 1 << 20)))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw NoAnswer(cause: error)
        }
    }
}

private struct NoAnswer: Error {
    let cause: any Error

    /// Whether a kept connection turned out to be closed: before the request was written, while it was, or before the answer.
    var wasClosed: Bool {
        switch cause {
        case is IOError, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: true
        default: cause as? HTTPClientError == .remoteConnectionClosed
        }
    }

    /// Whether there was no connection at all, so that nothing was sent.
    var wasUnreachable: Bool {
        switch cause {
        case is NIOConnectionError: true
        case let error as IOError: [ECONNREFUSED, ENOENT].contains(error.errnoCode)
        default: cause as? HTTPClientError == .connectTimeout
        }
    }
}

private struct Answer {
    let status: Int
    let retryAfter: Int?
    let body: Data

    /// `nil` if the response is not Assay's.
    func read<Members: Decodable>(_: Members.Type) -> Members? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(Members.self, from: body.isEmpty ? Data("{}".utf8) : body)
    }

    var problem: Problem? { read(Problem.self) }

    func error(spent: Bool = false) -> AssayError {
        let problem = problem
        return AssayError(
            status: status, code: problem?.code, requestID: problem?.requestId, spent: spent, retryAfter: retryAfter,
            providerError: problem?.providerError, context: problem?.context)
    }
}

private struct Notified: Decodable {
    struct Source: Decodable {
        let provider: String
        let issuer: String
        let kind: String
        let id: String
        let issuedAt: Int
    }

    let notification: Source
    let events: [Event]
}

private struct Verified: Decodable {
    let identity: Identity
}

private struct NoContent: Decodable {}

private struct RefreshAnswer: Decodable {
    struct Problem: Decodable { let code: String }

    let grant: Grant
    let identity: Identity?
    let problem: Problem?
}

private struct Problem: Decodable {
    let code: String
    let claim: String?
    let providerError: String?
    let context: String?
    let spent: Bool?
    let requestId: String
}
