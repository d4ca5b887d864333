import HTTP
import Keys
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing
import TestSupport

/// Connections that are opened before the first request is sent on them.
@Suite struct ProviderDialerTests {
    private let certificates: Certificates
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    init() throws { certificates = try Certificates.make() }

    private func dialer(_ change: (inout NetworkRules) -> Void = { _ in }) -> ProviderDialer {
        var rules = NetworkRules()
        rules.allowHTTP = true
        rules.allowPrivateAddresses = true
        rules.connectTimeout = .seconds(100)
        rules.nameTimeout = .seconds(100)
        rules.caFile = certificates.authority
        change(&rules)
        return ProviderDialer(rules: rules, proxy: nil, loop: Self.loop, unixSeconds: SystemClocks.unixSeconds)
    }

    private func exchange(_ connection: ClientConnection, keeping: Bool = true) async throws -> String? {
        let request = ClientRequest(
            head: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "localhost"]),
            body: ByteBuffer(), idleTimeout: .seconds(100), deadline: .now() + .seconds(100), maximumBody: 1000,
            maximumOverhead: 10_000, keepsConnection: keeping)
        let answer = try await Self.loop.flatSubmit { connection.exchange(request) }.get()
        return try? text(answer.body.get())
    }

    private func isIdle(_ connection: ClientConnection) async throws -> Bool {
        try await Self.loop.submit { connection.isIdle }.get()
    }

    @Test func `nothing is sent before the first exchange, and a connection serves several`() async throws {
        let tls = try certificates.make(.localhost).serverConfiguration()
        try await RawServer.run(tls: tls, answering: { _ in .bytes(RawServer.response("{}")) }) {
            server async throws in
            let target = try FetchURL(server.address("/", scheme: "https", host: "localhost"), allowingHTTP: false)
            let connection = try await dialer().dial(target)
            #expect(server.requests.isEmpty)
            #expect(try await isIdle(connection))
            for _ in 0..<3 { #expect(try await exchange(connection) == "{}") }
            #expect(server.requests.count == 3)
            #expect(try await exchange(connection, keeping: false) == "{}")
            #expect(try await !isIdle(connection))
            // A connection that is closed sends nothing.
            #expect(try await exchange(connection) == nil)
            #expect(server.requests.count == 4)
            try await connection.closed.get()
        }
    }

    @Test(arguments: [Certificates.Kind.otherHost, .expired, .selfSigned, .weaklySigned])
    func `a certificate that is no good opens no connection, and the reason is found out`(
        kind: Certificates.Kind
    ) async throws {
        let tls = try certificates.make(kind).serverConfiguration()
        try await RawServer.run(tls: tls, answering: { _ in .bytes(RawServer.response("{}")) }) {
            server async throws in
            let target = try FetchURL(server.address("/", scheme: "https", host: "localhost"), allowingHTTP: false)
            let failure = try #require(
                await #expect(throws: FetchFailure.self) { _ = try await dialer().dial(target) })
            #expect(failure.phase == .tls)
            #expect(server.requests.isEmpty)
            if kind == .expired { #expect(failure.message.contains("expired")) }
        }
    }

    @Test(.enabled(if: LocalHost.hasSeveralAddresses))
    func `the second address is tried where the first refuses`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let target = try FetchURL(server.address("/", host: "localhost"), allowingHTTP: true)
            #expect(try await exchange(try await dialer().dial(target)) == "{}")
        }
    }

    @Test func `an address that is not vetted is not dialed`() async throws {
        try await RawServer.run(answering: { _ in .silence }) { server async throws in
            let target = try FetchURL(server.address("/"), allowingHTTP: true)
            let failure = try #require(
                await #expect(throws: FetchFailure.self) {
                    _ = try await dialer { $0.allowPrivateAddresses = false }.dial(target)
                })
            #expect(failure.phase == .address)
        }
    }

    @Test func `a connection that the server closes is not idle`() async throws {
        try await RawServer.run(answering: { _ in .bytesAndClose(RawServer.response("{}")) }) { server async throws in
            let connection = try await dialer().dial(FetchURL(server.address("/"), allowingHTTP: true))
            #expect(try await exchange(connection) == "{}")
            try await connection.closed.get()
            #expect(try await !isIdle(connection))
        }
    }
}
