import HTTP
import Keys
import NIOPosix
import Testing

extension DocumentFetcher {
    /// A fetcher that may connect to this machine.
    static func onLoopback(
        proxy: ProxyEnvironment? = nil, _ change: (inout NetworkRules) -> Void = { _ in },
        unixSeconds: @escaping @Sendable () -> Int64 = SystemClocks.unixSeconds,
        onExchange: (@Sendable (FetchExchange) -> Void)? = nil
    ) -> DocumentFetcher {
        var rules = NetworkRules()
        rules.allowHTTP = true
        rules.allowPrivateAddresses = true
        // Long, because a busy machine answers itself slowly.
        rules.connectTimeout = .seconds(100)
        rules.nameTimeout = .seconds(100)
        rules.idleTimeout = .seconds(100)
        rules.minimumRateAfter = .seconds(100)
        rules.totalTimeout = .seconds(120)
        change(&rules)
        return DocumentFetcher(
            rules: rules, proxy: proxy, loop: MultiThreadedEventLoopGroup.singleton.next(),
            unixSeconds: unixSeconds, onExchange: onExchange)
    }

    /// The result of a fetch from a server with this answer.
    static func fetch(
        _ answer: RawServer.Answer, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> Document {
        let fetcher = onLoopback(change)
        return try await RawServer.run(answering: { _ in answer }) { server async throws in
            try await fetcher.fetch(server.address("/"))
        }
    }

    /// The failure of a fetch; the test fails if there is none.
    static func failure(
        _ answer: RawServer.Answer, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> FetchFailure {
        try #require(
            await #expect(throws: FetchFailure.self, sourceLocation: sourceLocation) {
                try await fetch(answer, change)
            })
    }
}
