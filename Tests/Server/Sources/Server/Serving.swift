import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A provider that publishes keys, unless it fails.
final class Provider: Sendable {
    private let keys: String
    private let fails = Atomic(false)

    init(keys: String) { self.keys = keys }

    func fail() { fails.store(true, ordering: .relaxed) }
    func recover() { fails.store(false, ordering: .relaxed) }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("keys") { _, _ in
            guard !self.fails.load(ordering: .relaxed) else { throw HTTPError(.serviceUnavailable) }
            return self.keys
        }
        return router
    }
}

/// Serves at a free port while `body` runs.
func serve<Context: RequestContext>(
    _ router: Router<Context>, with service: (any Service)? = nil, _ body: @Sendable (_ port: Int) async throws -> Void
) async throws where Context.Source == ApplicationRequestContextSource {
    let (ports, announced) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "server")
    logger.logLevel = .error
    var app = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { announced.yield($0.localAddress?.port ?? 0) }, logger: logger)
    if let service { app.addServices(service) }
    let group = ServiceGroup(services: [app], logger: logger)
    async let running: Void = group.run()
    for await port in ports {
        try await body(port)
        break
    }
    await group.triggerGracefulShutdown()
    try await running
}

/// - Returns: the status.
func get(_ path: String, _ port: Int, bearer token: String) async throws -> Int {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
    return try await channel.executeThenClose { inbound, outbound in
        let head =
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\r\n"
        try await outbound.write(ByteBuffer(string: head))
        var answer = ""
        for try await part in inbound { answer += String(buffer: part) }
        return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}

func pause() async { try? await Task.sleep(for: .milliseconds(20)) }
