import HTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing
import TestSupport

/// A listener on loopback with a responder whose behavior depends on the path, and the requests that it parks.
final class Listening: Sendable {
    let listener: HTTPListener
    let parked: Parked
    private let group: MultiThreadedEventLoopGroup
    /// The event loop of the clients.
    let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let target: Target

    enum Target: Sendable {
        case port(Int)
        case path(String)
    }

    /// 2024-02-29T12:34:56Z.
    static let unixSeconds: Int64 = 1_709_210_096

    /// Runs `body` with a listener, and always closes it.
    static func run(
        _ limits: ListenerLimits = ListenerLimits(), at address: ListenAddress = .network(host: "127.0.0.1", port: 0),
        loops: Int = 1, _ body: (Listening) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        let parked = Parked()
        let listener: HTTPListener
        do {
            listener = try await HTTPListener.bind(
                address, on: group, acceptor: group.next(), limits: limits, unixSeconds: { unixSeconds }
            ) {
                PathResponder($0, parked)
            }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        let listening = Listening(listener, parked, group)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(listening))
        } catch {
            outcome = .failure(error)
        }
        await listener.close()
        try await listening.clients.shutdownGracefully()
        try await group.shutdownGracefully()
        try outcome.get()
    }

    private init(_ listener: HTTPListener, _ parked: Parked, _ group: MultiThreadedEventLoopGroup) {
        self.listener = listener
        self.parked = parked
        self.group = group
        target =
            if listener.address.hasPrefix("unix:") {
                .path(String(listener.address.dropFirst("unix:".count)))
            } else {
                .port(Int(listener.address.split(separator: ":").last!)!)
            }
    }

    /// Sends bytes on a new connection, and returns everything received until it is closed.
    func exchange(_ bytes: String) async throws -> String {
        let wire = try await Wire.connect(self)
        try await wire.send(bytes)
        return try await wire.untilClosed()
    }

    /// Sends bytes on a new connection, and returns the first response.
    func first(_ bytes: String) async throws -> WireResponse {
        let wire = try await Wire.connect(self)
        try await wire.send(bytes)
        let response = try await wire.response()
        try await wire.close()
        return response
    }
}

/// Requests that wait until a test releases them.
final class Parked: Sendable {
    private let state = Mutex((waiting: [EventLoopPromise<HTTPResponse>](), arrived: 0))

    func park(on loop: any EventLoop) -> EventLoopFuture<HTTPResponse> {
        let promise = loop.makePromise(of: HTTPResponse.self)
        state.withLock { state in
            state.waiting.append(promise)
            state.arrived += 1
        }
        return promise.futureResult
    }

    /// Returns once this many requests have been parked.
    func arrived(_ count: Int) async throws {
        try await eventually { state.withLock { $0.arrived } >= count }
    }

    /// Answers the request that has waited longest.
    func release(_ body: String = "released", closes: Bool = false) {
        let promise = state.withLock { $0.waiting.removeFirst() }
        promise.succeed(.text(.ok, body, closes: closes))
    }
}

/// Echoes the request, unless the path says otherwise.
///
/// `/park` and `/park-three` wait, `/constant` is a long response that all requests share, `/last` closes the
/// connection, `/large` is a large response, and `/small` and `/wide` accept bodies of at most 10 and 100,000 bytes.
/// `/head` and `/head-park` are answered on the head.
private final class PathResponder: HTTPResponder {
    let isStopping = false
    private static let constant = ByteBuffer(string: String(repeating: "c", count: 100_000))
    private let loop: any EventLoop
    private let parked: Parked

    init(_ loop: any EventLoop, _ parked: Parked) {
        self.loop = loop
        self.parked = parked
    }

    func route(_ head: RequestHead) -> HeadRouting {
        switch head.path {
        case "/small": HeadRouting(bodyLimit: 10)
        case "/wide": HeadRouting(bodyLimit: 100_000)
        case "/head", "/head-park": onHead
        default: HeadRouting(bodyLimit: 1000)
        }
    }

    private var onHead: HeadRouting {
        var routing = HeadRouting(bodyLimit: 1000)
        routing.isAnsweredOnHead = true
        return routing
    }

    func respond(to request: HTTPRequest) -> HTTPReply {
        switch request.head.path {
        case "/park", "/head-park": return .later { try await self.parked.park(on: self.loop).get() }
        case "/park-three": return .later(WaitingCost(items: 3)) { try await self.parked.park(on: self.loop).get() }
        case "/constant":
            var response = HTTPResponse.text(.ok, "")
            response.constantBody = Self.constant
            return .now(response)
        case "/last": return .now(.text(.ok, "last", closes: true))
        case "/large": return .now(.text(.ok, String(repeating: "x", count: 256 * 1024)))
        default:
            let body = request.body.isEmpty ? "-" : String(decoding: request.body, as: UTF8.self)
            return .now(.text(.ok, "\(request.head.method.rawValue) \(request.head.path.string) \(body)"))
        }
    }

    func respond(to request: FailedRequest) -> HTTPResponse {
        let status: HTTPResponseStatus =
            switch request.fault {
            case .malformed, .repeatedField: .badRequest
            case .headersTooLarge: .requestHeaderFieldsTooLarge
            case .bodyTooLarge: .payloadTooLarge
            case .timeout: .requestTimeout
            case .overloaded: .serviceUnavailable
            }
        return .text(status, "\(request.fault) \(request.head?.path.string ?? "-")")
    }
}

@available(*, unavailable) extension PathResponder: Sendable {}

extension HTTPResponse {
    fileprivate static func text(_ status: HTTPResponseStatus, _ body: String, closes: Bool = false) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "text/plain", body: Array(body.utf8), requestID: "id",
            headers: [("Allow", "GET")], closesConnection: closes)
    }
}

private func ~= (pattern: StaticString, text: HeadSlice) -> Bool { text == pattern }
