import HTTP
import Keys
import Testing

@Suite struct DocumentFetcherTests {
    // MARK: Accepted responses

    @Test func `a document comes with its lifetime`() async throws {
        let document = try await DocumentFetcher.fetch(
            .bytes(RawServer.response("{\"a\":1}", ["Cache-Control: public", "Cache-Control: max-age=600", "Age: 60"])))
        #expect(document.body == Array("{\"a\":1}".utf8))
        #expect(document.lifetime == .seconds(540))
        #expect(try await DocumentFetcher.fetch(.bytes(RawServer.response("{}"))).lifetime == nil)
    }

    @Test func `the request says what is wanted and no more`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            _ = try await DocumentFetcher.onLoopback().fetch(server.address("/a/b?c=d%2f"))
            let request = try #require(server.requests.first).lowercased()
            #expect(request.hasPrefix("get /a/b?c=d%2f http/1.1\r\n"))
            #expect(request.contains("\r\naccept: application/json"))
            #expect(request.contains("\r\nhost: 127.0.0.1:\(server.port)"))
            #expect(request.contains("\r\naccept-encoding: deflate, gzip"))
            #expect(!request.contains("cookie"))
        }
    }

    @Test func `a body in chunks, without a length, and of exactly the limit is taken`() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"
        #expect(try await DocumentFetcher.fetch(.bytes(chunked)).body == Array("{\"a\":1}".utf8))
        let unbounded = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":1}"
        #expect(try await DocumentFetcher.fetch(.bytesAndClose(unbounded)).body == Array("{\"a\":1}".utf8))
        #expect(
            try await DocumentFetcher.fetch(.bytes(RawServer.response("12345")), { $0.maximumBody = 5 }).body.count == 5
        )
    }

    @Test func `a content encoding that says nothing is passed over, and content types too`() async throws {
        let fields = ["Content-Encoding: identity", "Content-Type: text/html"]
        #expect(try await DocumentFetcher.fetch(.bytes(RawServer.response("{}", fields))).body == Array("{}".utf8))
    }

    // MARK: Rejected responses

    @Test func `a body beyond the limit is refused, announced or not`() async throws {
        let limit = { (rules: inout NetworkRules) in rules.maximumBody = 5 }
        let message = "the body is larger than 5 bytes"
        #expect(
            try await DocumentFetcher.failure(.bytes(RawServer.response("123456")), limit)
                == FetchFailure(.http, message))
        let endless = RawServer.Answer.forever(
            "4000\r\n\(String(repeating: "x", count: 0x4000))\r\n",
            before: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        // Either limit may be hit first.
        let limits = [
            "the body is larger than 524288 bytes", "the response is larger than 655360 bytes in total",
        ]
        #expect(limits.contains(try await DocumentFetcher.failure(endless) { _ in }.message))
    }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden"])
    func `a server that wants credentials is told apart`(status: String) async throws {
        let failure = try await DocumentFetcher.failure(.bytes("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"))
        let words = "the server answered with status \(status.prefix(3)). Assay sends no credentials: "
        #expect(failure.message.hasPrefix(words))
        #expect(failure.message.contains("system:service-account-issuer-discovery"))
    }

    @Test(arguments: [
        "201 Created", "204 No Content", "206 Partial Content", "300 Multiple Choices", "304 Not Modified",
        "305 Use Proxy",
        "402 Payment Required", "404 Not Found", "429 Too Many Requests",
        "500 Internal Server Error",
        "503 Busy",
    ])
    func `only 200 is an answer`(status: String) async throws {
        let failure = try await DocumentFetcher.failure(.bytes("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"))
        #expect(failure.phase == .http)
        #expect(failure.message == "the server answered with status \(status.prefix(3))")
    }

    @Test(arguments: [
        "", "nonsense\r\n\r\n", "HTTP/1.1 200\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "\u{16}\u{3}\u{1}\u{0}\u{1}",
    ])
    func `an answer that breaks off or makes no sense is a failure`(text: String) async throws {
        let failure = try await DocumentFetcher.failure(.bytesAndClose(text))
        #expect([.http, .connect].contains(failure.phase))
        #expect(!failure.message.contains("abc"))
    }

    @Test func `a head without end is refused`() async throws {
        let failure = try await DocumentFetcher.failure(
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
        let failure = try await DocumentFetcher.failure(
            .bytes("HTTP/1.1 302 Found\r\n\(field)\r\nContent-Length: 0\r\n\r\n"))
        #expect([.address, .http].contains(failure.phase))
    }
}
