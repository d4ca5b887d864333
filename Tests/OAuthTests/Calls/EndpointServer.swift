import Dispatch
import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import OAuth
import OpenSSL
import Synchronization
import Testing

/// A provider's endpoint on loopback, which answers with arbitrary bytes, and records connections and requests.
final class EndpointServer: Sendable {
    enum Answer: Sendable {
        case bytes(String)
        /// Closes the connection after these bytes.
        case bytesAndClose(String)
        case silence
    }

    struct Request: Sendable {
        let head: String
        let body: String
    }

    private struct Record {
        var connections = 0
        /// Those that were opened, in order.
        var channels: [any Channel] = []
        var requests: [Request] = []
    }

    private let record = Mutex(Record())
    private let answer: @Sendable (_ request: Request, _ count: Int) -> Answer
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private init(_ answer: @escaping @Sendable (Request, Int) -> Answer) { self.answer = answer }

    /// - Parameter answer: called with each request and the number of those so far, from 1.
    static func run(
        answering answer: @escaping @Sendable (Request, Int) -> Answer,
        _ body: (EndpointServer, _ address: FetchURL) async throws -> Void
    ) async throws {
        let server = EndpointServer(answer)
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                server.record.withLock {
                    $0.connections += 1
                    $0.channels.append(channel)
                }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        do {
            try await body(server, FetchURL("http://127.0.0.1:\(port)/token", allowingHTTP: true))
            try await channel.close()
        } catch {
            try? await channel.close()
            throw error
        }
    }

    var requests: [Request] { record.withLock { $0.requests } }
    var connections: Int { record.withLock { $0.connections } }

    /// Waits until the connection that was opened last is closed on the server's side. On loopback, the client's socket
    /// knows it from then on.
    func lastConnectionClosed() async throws {
        try await record.withLock { $0.channels.last }?.closeFuture.get()
    }

    /// Does something with the connection that was opened last, on its event loop, and waits for it. Unlike a future's
    /// `wait`, this may be called on another event loop.
    func onLastConnection(_ act: @escaping @Sendable (any Channel) -> Void) {
        guard let channel = record.withLock({ $0.channels.last }) else { return }
        let done = DispatchSemaphore(value: 0)
        channel.eventLoop.execute {
            act(channel)
            done.signal()
        }
        done.wait()
    }

    static func response(_ body: String, status: String = "200 OK", _ fields: [String] = []) -> Answer {
        .bytes(text(body, status: status, fields))
    }

    static func text(_ body: String, status: String = "200 OK", _ fields: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }

    static func chunked(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
    }

    static let grant = #"{"access_token":"a","token_type":"Bearer","expires_in":3600}"#

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: EndpointServer
        private var received = ""

        init(_ server: EndpointServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard let end = received.firstRange(of: "\r\n\r\n") else { return }
            let head = String(received[..<end.lowerBound])
            let length =
                head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
            let body = String(received[end.upperBound...])
            guard body.utf8.count >= length else { return }
            received = ""
            let request = Request(head: head, body: body)
            let count = server.record.withLock { record in
                record.requests.append(request)
                return record.requests.count
            }
            switch server.answer(request, count) {
            case .bytes(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .bytesAndClose(let text):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                context.close(promise: nil)
            case .silence: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A provider whose endpoints are on loopback, and one client.
struct Caller {
    let calls: ProviderCalls
    let slots = CallSlots(limit: 10)
    let reports = Reports()

    final class Reports: Sendable {
        private let kept = Mutex<[CallReport]>([])
        func add(_ report: CallReport) { kept.withLock { $0.append(report) } }
        var all: [CallReport] { kept.withLock { $0 } }
    }

    static let clientID = "client"

    init(_ credential: ClientCredential = .none, _ change: (inout NetworkRules) -> Void = { _ in }) {
        var rules = NetworkRules()
        rules.allowHTTP = true
        rules.allowPrivateAddresses = true
        // Long, because a busy machine answers itself slowly.
        rules.nameTimeout = .seconds(100)
        rules.connectTimeout = .seconds(100)
        rules.idleTimeout = .seconds(100)
        change(&rules)
        calls = ProviderCalls(
            rules: rules, proxy: nil, credentials: [Self.clientID: credential], quirks: [.revokedIsInvalidRequest],
            keptConnections: 64,
            on: MultiThreadedEventLoopGroup.singleton.next(), onReport: reports.add)
    }

    static var soon: MonotonicTime { SystemClocks.monotonic() + .seconds(200) }

    func refresh(
        at address: FetchURL, by client: String = clientID, until deadline: MonotonicTime = soon
    ) async throws -> Called<Grant> {
        let slot = try #require(slots.reserve())
        let token = try #require(RefreshToken("r"))
        return try await calls.exchange(
            .refresh(token, scopes: []), by: .configured(client), at: address, slot, until: deadline
        )
        .get()
    }

    func revoke(at address: FetchURL, until deadline: MonotonicTime = soon) async throws -> Called<Void> {
        let slot = try #require(slots.reserve())
        let request = RevocationRequest(try #require(RevocableToken("t")), hint: nil)
        return try await calls.revoke(request, by: .configured(Self.clientID), at: address, slot, until: deadline).get()
    }
}

extension Called {
    var failure: CallFailure? { if case .failure(let failure) = result { failure } else { nil } }
}
