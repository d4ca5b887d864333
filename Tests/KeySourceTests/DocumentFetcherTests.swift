import Clocks
import KeySource
import Testing

@Suite struct DocumentFetcherTests {
    /// What a fetch from a server with this answer comes to.
    private func fetch(
        _ answer: RawServer.Answer, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> DocumentFetcher.Document {
        let fetcher = DocumentFetcher.onLoopback(change)
        return try await RawServer.run(answering: { _ in answer }) { server async throws in
            try await fetcher.fetch(server.address("/"))
        }
    }

    private func failure(
        _ answer: RawServer.Answer, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> FetchFailure {
        try #require(
            await #expect(throws: FetchFailure.self, sourceLocation: sourceLocation) {
                try await fetch(answer, change)
            })
    }

    // MARK: What is taken

    @Test func `a document comes with its lifetime`() async throws {
        let document = try await fetch(
            .bytes(RawServer.response("{\"a\":1}", ["Cache-Control: public", "Cache-Control: max-age=600", "Age: 60"])))
        #expect(document.body == Array("{\"a\":1}".utf8))
        #expect(document.lifetime == .seconds(540))
        #expect(try await fetch(.bytes(RawServer.response("{}"))).lifetime == nil)
    }

    @Test func `the request says what is wanted and no more`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            _ = try await DocumentFetcher.onLoopback().fetch(server.address("/a/b?c=d%2f"))
            let request = try #require(server.requests.first).lowercased()
            #expect(request.hasPrefix("get /a/b?c=d%2f http/1.1\r\n"))
            #expect(request.contains("\r\naccept: application/json"))
            #expect(request.contains("\r\nhost: 127.0.0.1:\(server.port)"))
            #expect(!request.contains("accept-encoding"))
            #expect(!request.contains("cookie"))
        }
    }

    @Test func `a body in chunks, without a length, and of exactly the limit is taken`() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"
        #expect(try await fetch(.bytes(chunked)).body == Array("{\"a\":1}".utf8))
        let unbounded = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":1}"
        #expect(try await fetch(.bytesAndClose(unbounded)).body == Array("{\"a\":1}".utf8))
        #expect(try await fetch(.bytes(RawServer.response("12345")), { $0.maximumBody = 5 }).body.count == 5)
    }

    @Test func `a content encoding that says nothing is passed over, and content types too`() async throws {
        let fields = ["Content-Encoding: identity", "Content-Type: text/html"]
        #expect(try await fetch(.bytes(RawServer.response("{}", fields))).body == Array("{}".utf8))
    }

    // MARK: What is refused

    @Test func `a body beyond the limit is refused, announced or not`() async throws {
        let limit = { (rules: inout NetworkRules) in rules.maximumBody = 5 }
        let message = "the body is larger than 5 bytes"
        #expect(try await failure(.bytes(RawServer.response("123456")), limit) == FetchFailure(.http, message))
        let endless = RawServer.Answer.forever(
            "4000\r\n\(String(repeating: "x", count: 0x4000))\r\n",
            before: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(try await failure(endless) { _ in }.message == "the body is larger than 524288 bytes")
    }

    @Test(arguments: ["gzip", "br", "deflate", "GZIP", "identity, gzip", "x"])
    func `a body that was packed unasked is not looked into`(encoding: String) async throws {
        let failure = try await failure(.bytes(RawServer.response("{}", ["Content-Encoding: \(encoding)"])))
        #expect(failure == FetchFailure(.http, "the body is compressed, which was not asked for"))
    }

    @Test(arguments: [
        "201 Created", "204 No Content", "206 Partial Content", "300 Multiple Choices", "304 Not Modified",
        "305 Use Proxy",
        "400 Bad Request", "401 Unauthorized", "404 Not Found", "429 Too Many Requests", "500 Internal Server Error",
        "503 Busy",
    ])
    func `only 200 is an answer`(status: String) async throws {
        let failure = try await failure(.bytes("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"))
        #expect(failure == FetchFailure(.http, "the server answered with status \(status.prefix(3))"))
    }

    @Test(arguments: [
        "", "nonsense\r\n\r\n", "HTTP/1.1 200\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "\u{16}\u{3}\u{1}\u{0}\u{1}",
    ])
    func `an answer that breaks off or makes no sense is a failure`(text: String) async throws {
        let failure = try await failure(.bytesAndClose(text))
        #expect([.http, .connect].contains(failure.phase))
        #expect(!failure.message.contains("abc"))
    }

    @Test func `a head without end is refused`() async throws {
        let failure = try await failure(
            .forever("X: \(String(repeating: "x", count: 1000))\r\n", before: "HTTP/1.1 200 OK\r\n")
        ) {
            $0.totalTimeout = .seconds(8)
        }
        #expect(failure.phase == .http)
    }

    // MARK: Redirects

    @Test(arguments: [301, 302, 303, 307, 308])
    func `redirects are followed, three at most`(status: Int) async throws {
        try await RawServer.run(answering: { head in
            let hop = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
            return hop == 0
                ? .bytes(RawServer.response("{}"))
                : .bytes("HTTP/1.1 \(status) Moved\r\nLocation: /\(hop - 1)\r\nContent-Length: 0\r\n\r\n")
        }) { server async throws in
            #expect(try await DocumentFetcher.onLoopback().fetch(server.address("/3")).body == Array("{}".utf8))
            #expect(server.paths == ["/3", "/2", "/1", "/0"])
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback().fetch(server.address("/4"))
            }
            #expect(failure == FetchFailure(.http, "more than 3 redirects"))
            #expect(server.paths.suffix(4) == ["/4", "/3", "/2", "/1"])
        }
    }

    @Test func `a redirect to another server asks it, and sends nothing along`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{\"b\":2}")) }) { second async throws in
            let location = second.address("/keys", host: "localhost")
            try await RawServer.run(answering: { _ in
                .bytes("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")
            }) { first async throws in
                #expect(
                    try await DocumentFetcher.onLoopback().fetch(first.address("/")).body == Array("{\"b\":2}".utf8))
                #expect(second.paths == ["/keys"])
                #expect(try !#require(second.requests.first).lowercased().contains("cookie"))
            }
        }
    }

    @Test(arguments: [
        "Location: file:///etc/passwd", "Location: //evil.example/", "Location: ", "X: y", "Location: keys",
    ])
    func `a redirect to nowhere on the web is a failure`(field: String) async throws {
        let failure = try await failure(.bytes("HTTP/1.1 302 Found\r\n\(field)\r\nContent-Length: 0\r\n\r\n"))
        #expect([.address, .http].contains(failure.phase))
    }

    // MARK: Addresses

    /// Every way to write loopback that a resolver understands.
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
            #expect(failure.message.contains("allow_private_addresses"))
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

    @Test func `a name that can't exist is a failure to resolve it`() async throws {
        // A label has at most 63 letters: nobody needs to be asked.
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback().fetch("http://\(String(repeating: "a", count: 64)).example/")
        }
        #expect(failure == FetchFailure(.dns, "the host name has no address"))
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

    // MARK: Time

    @Test(arguments: [
        RawServer.Answer.silence, .bytes("HTTP/1.1 200 OK\r\nContent-Len"),
        .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
    ])
    func `an answer that does not come is given up in time`(answer: RawServer.Answer) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let failure = try await failure(answer) { $0.totalTimeout = Interval(milliseconds: 300) }
        #expect(failure.phase == .http)
        #expect(clock.now - start >= .milliseconds(290))
        #expect(clock.now - start < .seconds(5))
    }

    @Test func `redirects share one time-out`() async throws {
        let failure = try await failure(.bytes("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")) {
            $0.totalTimeout = Interval(milliseconds: 300)
            $0.maximumRedirects = 1_000_000
        }
        #expect(failure == FetchFailure(.http, "no complete answer within 1 s"))
    }

    @Test func `a port that nobody listens on is a failure to connect`() async throws {
        let port = try await RawServer.run(answering: { _ in .silence }) { $0.port }
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback().fetch("http://127.0.0.1:\(port)/")
        }
        #expect(failure == FetchFailure(.connect, "the connection was refused or broke"))
    }
}
