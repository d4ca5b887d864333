private import Host
internal import HTTPServer
private import JOSE
private import JSON
internal import NIOCore
internal import NIOHTTP1
private import NIOPosix
private import OpenSSL

/// A small OpenID Provider for development and tests, on loopback only. It signs anything that it is asked to sign,
/// with keys that it generates at each start. Never trust it in production.
package final class DevProviderServer: Sendable {
    private let listener: HTTPListener
    /// The address on which it listens, such as `127.0.0.1:9400`.
    package let address: String

    /// The audience of the provider's tokens.
    package static func audience(of kind: DevProviderKind) -> String {
        switch kind {
        case .apple: "com.example.app"
        case .google: "example-client-id.apps.example.com"
        }
    }

    /// The issuer of one of the providers.
    package func issuer(of kind: DevProviderKind) -> String { Self.issuer(of: kind, at: address) }

    private static func issuer(of kind: DevProviderKind, at address: String) -> String {
        "http://\(address)/\(kind.rawValue)"
    }

    /// Generates keys and starts to listen on 127.0.0.1.
    ///
    /// - Parameter port: 0 lets the system choose one.
    /// - Throws: an I/O error if the port is in use.
    package static func start(port: Int) async throws -> DevProviderServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let responder = try await loop.submit { NIOLoopBound(DevResponder(), eventLoop: loop) }.get()
        let listener = try await HTTPListener.bind(
            .network(host: "127.0.0.1", port: port), on: group, acceptor: loop, limits: ListenerLimits(),
            unixSeconds: SystemClocks.unixSeconds
        ) { _ in responder.value }
        // The issuers contain the port, which is known only after binding.
        let address = listener.address
        try await loop.submit {
            responder.value.providers = try DevProviderKind.allCases.map { kind in
                try SimulatedProvider(
                    kind, issuer: Self.issuer(of: kind, at: address), audience: Self.audience(of: kind))
            }
        }.get()
        return DevProviderServer(listener)
    }

    private init(_ listener: HTTPListener) {
        self.listener = listener
        address = listener.address
    }

    package func stop() async { await listener.close() }
}

/// Answers the requests of a development provider. Confined to its only event loop.
private final class DevResponder: HTTPResponder {
    var providers: [SimulatedProvider] = []

    var isStopping: Bool { false }

    func route(_ head: RequestHead) -> HeadRouting { HeadRouting(bodyLimit: 64 * 1024) }

    func respond(to request: FailedRequest) -> HTTPResponse {
        error(.badRequest, "the request can't be read")
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        do {
            return .now(try answer(request))
        } catch {
            return .now(self.error(.internalServerError, "signing failed"))
        }
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let path = request.head.path.string
        if path == "/rotate" {
            guard request.head.method == .post else { return error(.methodNotAllowed, "POST to /rotate") }
            for index in providers.indices { try providers[index].rotate() }
            return json(.object(["rotated": .bool(true)]))
        }
        for provider in providers where path.hasPrefix("/\(provider.kind.rawValue)/") {
            switch (path.dropFirst(provider.kind.rawValue.count + 1), request.head.method) {
            case ("/.well-known/openid-configuration", .get): return json(provider.discoveryDocument)
            case ("/keys", .get): return json(provider.keySet)
            case ("/token", .post): return try token(provider, request.body)
            default: break
            }
        }
        return error(.notFound, "see the curl lines that were printed at the start")
    }

    private func token(_ provider: SimulatedProvider, _ body: [UInt8]) throws -> HTTPResponse {
        var members: [String: JSONTree] = [:]
        if !body.isEmpty {
            guard let object = (try? JSONTree(readingObject: body))?.object else {
                return error(.badRequest, "the body must be a JSON object such as {\"nonce\": \"...\", \"claims\": {}}")
            }
            members = object
        }
        let nonce = try members["nonce"]?.string ?? String(decoding: Base64URL.encode(randomBytes(18)), as: UTF8.self)
        let token = try provider.token(
            nonce: nonce, overriding: members["claims"]?.object ?? [:], now: SystemClocks.unixSeconds())
        return json(.object(["id_token": .string(token), "nonce": .string(nonce)]))
    }

    private func json(_ tree: JSONTree, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        var json = JSONWriter()
        json.value(tree)
        return HTTPResponse(
            status: status, contentType: "application/json", body: json.bytes + [UInt8(ascii: "\n")], requestID: "dev")
    }

    private func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPResponse {
        json(.object(["error": .string(text)]), status)
    }
}

@available(*, unavailable) extension DevResponder: Sendable {}
