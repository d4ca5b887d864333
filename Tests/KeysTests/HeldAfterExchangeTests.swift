import HTTP
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing
import TestSupport

/// An exchange leaves nothing in memory, however it ended.
@Suite struct HeldAfterExchangeTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.make() }

    enum Ending: CaseIterable {
        case good, withoutItsBody, cutOff, silence, untrusted, refusedByUs, cancelled
    }

    @Test(arguments: Ending.allCases)
    func `a connection, its timers and its context are gone`(_ ending: Ending) async throws {
        let tls = try certificates.make(.localhost).serverConfiguration()
        let answer: RawServer.Answer =
            switch ending {
            case .cutOff: .bytesAndClose("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
            case .silence, .cancelled: .silence
            default: .bytes(RawServer.response("{}"))
            }
        try await RawServer.run(tls: tls, answering: { _ in answer }) { server async throws in
            weak var held: NIOSSLContext?
            let task: Task<HTTPAnswer, Never>
            do {
                var configuration = TLSConfiguration.forExchanges
                if ending != .untrusted { configuration.trustRoots = .file(certificates.authority) }
                let context = try NIOSSLContext(configuration: configuration)
                held = context
                var exchange = HTTPExchange(
                    to: .address("127.0.0.1", port: server.port),
                    tls: HTTPExchange.TLS(context: context, host: "localhost") { _ in ending != .refusedByUs },
                    head: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "localhost"]),
                    limits: HTTPExchange.Limits(
                        connectTimeout: .seconds(100),
                        idleTimeout: ending == .silence ? Interval(milliseconds: 50) : .seconds(100),
                        maximumBody: 100, maximumOverhead: 100_000))
                exchange.readsBody = { _ in ending != .withoutItsBody }
                task = Task { [exchange] in await exchange.perform(on: MultiThreadedEventLoopGroup.singleton.next()) }
            }
            if ending == .cancelled {
                try await eventually { !server.requests.isEmpty }
                task.cancel()
            }
            let answer = await task.value
            #expect(
                (try? answer.body.get()) == (ending == .good ? Array("{}".utf8) : ending == .withoutItsBody ? [] : nil))
            // A leftover timer keeps the whole connection alive until it fires: five seconds for TLS's own.
            let begun = ContinuousClock.now
            try await eventually { held == nil }
            #expect(ContinuousClock.now - begun < .seconds(4))
        }
    }
}
