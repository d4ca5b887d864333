import HTTP
@testable import Keys
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Reconnecting to a server to diagnose its certificate. ``DocumentFetcherTLSTests`` tests the resulting messages.
@Suite struct CertificateDiagnosisTests {
    private func reason(_ port: Int, timeout: Interval = .seconds(20)) async -> String? {
        let diagnosis = CertificateDiagnosis(
            host: "localhost", address: "127.0.0.1", port: port, timeout: timeout,
            loop: MultiThreadedEventLoopGroup.singleton.next())
        return await diagnosis.reason(for: .untrusted, trusting: [], unixSeconds: 1_700_000_000)
    }

    /// Accepts connections and handles each as a test prescribes.
    private func withServer(
        _ accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>, _ body: (Int) async throws -> Void
    ) async throws {
        let connections = Mutex<[EventLoopFuture<Void>]>([])
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                connections.withLock { $0.append(channel.closeFuture) }
                return accept(channel)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        try await body(try #require(server.localAddress?.port))
        try await server.close()
        // No connection stays open.
        for connection in connections.withLock({ $0 }) { try await connection.get() }
    }

    @Test func `a silent server does not delay others, and is disconnected`() async throws {
        try await withServer({ $0.eventLoop.makeSucceededVoidFuture() }) { port in
            #expect(await reason(port, timeout: Interval(milliseconds: 200)) == nil)
        }
    }

    @Test func `a server that hangs up gives no reason`() async throws {
        try await withServer({ $0.eventLoop.makeFailedFuture(ChannelError.eof) }) { port in
            #expect(await reason(port) == nil)
        }
    }

    @Test func `a server that is not there any more gives none`() async throws {
        var gone = 0
        try await withServer({ $0.eventLoop.makeSucceededVoidFuture() }) { gone = $0 }
        #expect(await reason(gone) == nil)
    }
}
