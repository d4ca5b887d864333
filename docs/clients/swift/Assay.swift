import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

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

/// What the app sent, and the nonce that this backend made for it.
public struct SignIn: Codable, Sendable {
    public var provider: String
    public var idToken: String
    public var nonce: String?
    public var audience: String?
    public var maxAge: Int?
    public var accessToken: String?
    public var code: String?
    public var user: AppleUser?

    private enum CodingKeys: String, CodingKey {
        case provider, nonce, audience, code, user
        case idToken = "id_token"
        case maxAge = "max_age"
        case accessToken = "access_token"
    }

    public init(provider: String, idToken: String, nonce: String?) {
        self.provider = provider
        self.idToken = idToken
        self.nonce = nonce
    }
}

/// What Apple gave the app beside the token, at a person's first sign-in.
public struct AppleUser: Codable, Sendable {
    public struct Name: Codable, Sendable {
        public var firstName: String?
        public var lastName: String?
    }
    public var name: Name?
    public var email: String?
}

public enum Verdict: Sendable {
    case verified(Identity)

    /// Sign nobody in: this token will be refused each time. `claim` is the one missing or invalid.
    case refused(code: String, claim: String?, requestID: String)

    /// Nobody can say just now; the same request may succeed after so many seconds.
    case unavailable(retryAfter: Int)
}

/// A mistake of ours or in Assay's configuration (400, 401, 404, …), or a failure of Assay's (500).
public struct AssayError: Error {
    public let status: Int
    public let code: String?
    public let requestID: String?
}

/// Asks Assay whose ID Token it is. Swift 6 or later, async-http-client 1.37 or later. One for the whole program: its
/// HTTP client keeps the connections, until `shutdown`.
public struct Assay: Sendable {
    private let url: String
    /// For a socket, whose requests async-http-client gives no `Host`.
    private let host: String?
    private let apiKey: String?
    private let timeout: TimeAmount
    private let http: HTTPClient

    /// - Parameters:
    ///   - url: May be `unix:/path`.
    ///   - timeout: A little longer than Assay waits for a provider's keys.
    public init(url: String = "http://127.0.0.1:8080", apiKey: String? = nil, timeout: TimeAmount = .seconds(6)) {
        if url.hasPrefix("unix:"), let socket = URL(httpURLWithSocketPath: String(url.dropFirst(5)), uri: "/v1/verify")
        {
            self.url = socket.absoluteString
            host = "localhost"
        } else {
            self.url = url + "/v1/verify"
            host = nil
        }
        self.apiKey = apiKey
        self.timeout = timeout
        // Assay sends nobody elsewhere, and the token is for it alone.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Where nobody listens, that is to be known at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        http = HTTPClient(configuration: configuration)
    }

    public func shutdown() async throws {
        try await http.shutdown()
    }

    /// - Throws: `AssayError`; `CancellationError`.
    public func verify(_ signIn: SignIn) async throws -> Verdict {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if let host { request.headers.add(name: "Host", value: host) }
        if let apiKey { request.headers.add(name: "Authorization", value: "Bearer \(apiKey)") }
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(signIn)))

        let response: HTTPClientResponse
        let body: Data
        do {
            response = try await send(request)
            body = Data(buffer: try await response.body.collect(upTo: 1 << 20))
        } catch let error as CancellationError {
            throw error
        } catch {
            return .unavailable(retryAfter: 1)
        }

        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        switch response.status {
        case .ok:
            guard let answer = try? decoder.decode(Answer.self, from: body) else { break }
            return .verified(answer.identity)
        case .unprocessableEntity:
            guard let problem = try? decoder.decode(Problem.self, from: body) else { break }
            return .refused(code: problem.code, claim: problem.claim, requestID: problem.requestId)
        case .serviceUnavailable:
            return .unavailable(retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) } ?? 1)
        default: break
        }
        // Without a problem to read, whoever answered, it was not Assay.
        let problem = try? decoder.decode(Problem.self, from: body)
        throw AssayError(status: Int(response.status.code), code: problem?.code, requestID: problem?.requestId)
    }

    private func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        do {
            return try await http.execute(request, timeout: timeout)
        } catch let error where isClosedConnection(error) {
            // A kept connection was closed just then: the request may be sent again, on another.
            return try await http.execute(request, timeout: timeout)
        }
    }
}

/// Whether a kept connection turned out to be closed: before the request was written, while it was, or before the answer.
private func isClosedConnection(_ error: any Error) -> Bool {
    switch error {
    case is IOError, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: true
    default: error as? HTTPClientError == .remoteConnectionClosed
    }
}

private struct Answer: Decodable {
    let identity: Identity
}

private struct Problem: Decodable {
    let code: String
    let claim: String?
    let requestId: String
}
