import HTTP
import Keys
import Synchronization
import Testing

/// The events that a fetcher reports for each request.
@Suite struct FetchExchangeTests {
    private final class Exchanges: Sendable {
        private let kept = Mutex<[FetchExchange]>([])
        var all: [FetchExchange] { kept.withLock { $0 } }
        func keep(_ exchange: FetchExchange) { kept.withLock { $0.append(exchange) } }
    }

    @TaskLocal private static var task = "none"

    private func exchanges(
        of address: String, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async -> [FetchExchange] {
        let exchanges = Exchanges()
        let fetcher = DocumentFetcher.onLoopback(
            change,
            onExchange: { exchange in
                // A span opened around the fetch must be the current one here.
                #expect(Self.task == "fetch")
                exchanges.keep(exchange)
            })
        await Self.$task.withValue("fetch") { _ = try? await fetcher.fetch(address) }
        return exchanges.all
    }

    @Test func `each request, with its address, times and status`() async throws {
        let before = SystemClocks.unixNanoseconds()
        try await RawServer.run(answering: { request in
            request.hasPrefix("GET /first")
                ? .bytes("HTTP/1.1 302 Found\r\nLocation: /second?key=1\r\nContent-Length: 0\r\n\r\n")
                : .bytes(RawServer.response("{}"))
        }) { server async throws in
            let found = await exchanges(of: server.address("/first"))
            #expect(found.map(\.address.text) == [server.address("/first"), server.address("/second?key=1")])
            #expect(found.map(\.status) == [302, 200])
            #expect(found.map(\.redirects) == [0, 1])
            #expect(found.allSatisfy { $0.failure == nil })
            try #require(found.count == 2)
            let ends = found.map { $0.startedAtUnixNanoseconds + $0.nanoseconds }
            #expect(found[0].startedAtUnixNanoseconds >= before)
            #expect(found[1].startedAtUnixNanoseconds >= found[0].startedAtUnixNanoseconds)
            #expect(ends[1] >= ends[0])
        }
    }

    @Test func `a refusal has its status, and what is no answer has none`() async throws {
        try await RawServer.run(
            answering: { _ in .bytes("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") }
        ) { server async throws in
            let found = await exchanges(of: server.address("/"))
            #expect(found.map(\.status) == [404])
            #expect(found.map(\.failure?.phase) == [.http])
        }
        let nobody = await exchanges(of: "http://127.0.0.1:1/")
        #expect(nobody.map(\.status) == [nil])
        #expect(nobody.map(\.failure?.phase) == [.connect])
        let forbidden = await exchanges(of: "http://127.0.0.1:1/") { $0.allowPrivateAddresses = false }
        #expect(forbidden.map(\.failure?.phase) == [.address])
    }

    @Test func `what is no address is never asked`() async {
        #expect(await exchanges(of: "ftp://127.0.0.1/").isEmpty)
    }
}
