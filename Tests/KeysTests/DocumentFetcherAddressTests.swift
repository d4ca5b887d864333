import Keys
import Testing

/// Which addresses a fetch connects to.
@Suite struct DocumentFetcherAddressTests {
    // MARK: Addresses

    /// Every spelling of loopback that a resolver understands.
    @Test(arguments: [
        "127.0.0.1", "localhost", "LOCALHOST", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "0.0.0.0", "[::1]",
        "[::ffff:127.0.0.1]", "[::]",
    ])
    func `an address inside is not connected to, however it is written`(host: String) async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let failure = try #require(
                await #expect(throws: FetchFailure.self) {
                    try await DocumentFetcher.onLoopback { $0.allowPrivateAddresses = false }.fetch(
                        server.address("/", host: host))
                })
            #expect(failure.phase == .address)
            #expect(failure.message.contains("network.allow_addresses"))
            #expect(server.requests == [])
        }
    }

    @Test(arguments: ["localhost", "LocalHost"])
    func `a host by name is connected to at the address that was vetted`(host: String) async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            _ = try await DocumentFetcher.onLoopback().fetch(server.address("/", host: host))
            #expect(try #require(server.requests.first).contains("ost: localhost:\(server.port)"))
        }
    }

    @Test func `a name that can't exist is not looked for`() async throws {
        // A label has at most 63 letters, so no name server is queried.
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback().fetch("http://\(String(repeating: "a", count: 64)).example/")
        }
        #expect(failure?.phase == .address)
    }

    @Test func `http is refused where it is not allowed, before anything is sent`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.allowHTTP = false }.fetch(server.address("/"))
            }
            #expect(failure?.phase == .address)
            #expect(server.requests == [])
        }
    }

    // MARK: Connecting

    @Test func `a port that nobody listens on is a failure to connect`() async throws {
        let port = try await RawServer.run(answering: { _ in .silence }) { $0.port }
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback().fetch("http://127.0.0.1:\(port)/")
        }
        #expect(failure == FetchFailure(.connect, "the connection was refused or broke"))
    }

    /// If this machine has an IPv6 loopback, it is tried first, and nothing listens there.
    @Test(.enabled(if: LocalHost.hasSeveralAddresses))
    func `of a host's addresses the next is tried where one can't be connected to`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let address = server.address("/", host: "localhost")
            #expect(try await DocumentFetcher.onLoopback().fetch(address).body == Array("{}".utf8))
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.maximumAddresses = 1 }.fetch(address)
            }
            #expect(failure == FetchFailure(.connect, "the connection was refused or broke"))
        }
    }

    @Test(arguments: [["127.0.0.1"], ["127.0.0.0/8"], ["10.0.0.0/8", "127.0.0.1/32"]])
    func `an address inside is connected to where it is named`(blocks: [String]) async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let blocks = try blocks.map { try #require(AddressBlock($0)) }
            _ = try await DocumentFetcher.onLoopback {
                $0.allowPrivateAddresses = false
                $0.allowedAddresses = blocks
            }.fetch(server.address("/"))
            #expect(server.paths == ["/"])
        }
    }

    @Test(arguments: ["127.0.0.2", "10.0.0.0/8", "::1", "128.0.0.0/1"])
    func `an address inside that is not among those named is not`(block: String) async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            let block = try #require(AddressBlock(block))
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback {
                    $0.allowPrivateAddresses = false
                    $0.allowedAddresses = [block]
                }.fetch(server.address("/"))
            }
            #expect(failure?.phase == .address)
            #expect(server.paths == [])
        }
    }
}
