import HTTP
import Keys
import Synchronization
import Testing
import TestSupport

/// Conditional requests, and responses with status 304.
@Suite struct ConditionalRequestTests {
    private static let confirmation = "HTTP/1.1 304 Not Modified\r\n"

    /// The request's header fields about caching, in lower case.
    private static func fields(_ head: String) -> [String] {
        head.lowercased().split(separator: "\r\n").filter { $0.hasPrefix("if-") || $0.hasPrefix("cache-control") }.map(
            String.init
        ).sorted()
    }

    /// Fetches a document with some response fields, and fetches it again.
    ///
    /// - Returns: the caching fields of the second request.
    private func secondRequest(
        _ fields: [String], _ mode: FetchMode, forgetting: Bool = false
    ) async throws -> [String] {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}", fields)) }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let first = try await fetcher.fetch(server.address("/"))
            _ = try await fetcher.fetch(server.address("/"), mode, known: forgetting ? nil : first)
            return Self.fields(try #require(server.requests.last))
        }
    }

    // MARK: Requests

    @Test(
        arguments: [
            ([], []),
            (["ETag: \"v1\""], ["if-none-match: \"v1\""]),
            (["ETag: W/\"v1\""], ["if-none-match: w/\"v1\""]),
            (
                ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
                ["if-modified-since: sun, 06 nov 1994 08:49:37 gmt"]
            ),
            (
                ["ETag: \"v1\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
                ["if-modified-since: sun, 06 nov 1994 08:49:37 gmt", "if-none-match: \"v1\""]
            ),
            (["ETag: \"\u{e9}\""], ["if-none-match: \"\u{e9}\""]),
            (["ETag: \"a\tb\""], ["if-none-match: \"a\tb\""]),
            (["ETag: " + String(repeating: "x", count: 1025)], []),
        ] as [([String], [String])])
    func `a refresh asks by the validators of the document it knows`(fields: [String], asked: [String]) async throws {
        #expect(try await secondRequest(fields, .revalidate) == asked)
    }

    @Test func `who wants it whole asks no such thing, and passes caches by`() async throws {
        let fields = ["ETag: \"v1\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(try await secondRequest(fields, .reload) == ["cache-control: no-cache"])
        #expect(try await secondRequest(fields, .reload, forgetting: true) == ["cache-control: no-cache"])
        #expect(try await secondRequest(fields, .revalidate, forgetting: true) == [])
    }

    /// RFC 9110, 8.8.3: a validator applies to the URL from which it came.
    @Test func `after a redirect the question is put where the document came from, and nowhere else`() async throws {
        try await RawServer.run(answering: { head in
            guard head.hasPrefix("GET /keys ") else {
                return .bytes("HTTP/1.1 302 Found\r\nLocation: /keys\r\nContent-Length: 0\r\n\r\n")
            }
            return head.contains("If-None-Match: \"v1\"")
                ? .bytes(Self.confirmation + "\r\n") : .bytes(RawServer.response("{\"a\":1}", ["ETag: \"v1\""]))
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let first = try await fetcher.fetch(server.address("/"))
            #expect(!first.isNotModified)
            let second = try await fetcher.fetch(server.address("/"), .revalidate, known: first)
            #expect(second.isNotModified)
            #expect(second.body == first.body)
            #expect(server.paths == ["/", "/keys", "/", "/keys"])
            #expect(
                server.requests.map { Self.fields($0).contains("if-none-match: \"v1\"") } == [
                    false, false, false, true,
                ])
        }
    }

    @Test func `where a redirect leads elsewhere the document is fetched whole`() async throws {
        let hops = Mutex(0)
        try await RawServer.run(answering: { head in
            guard head.hasPrefix("GET / ") else { return .bytes(RawServer.response("{}", ["ETag: \"v1\""])) }
            let number = hops.withLock { count in
                count += 1
                return count
            }
            return .bytes("HTTP/1.1 302 Found\r\nLocation: /keys\(number)\r\nContent-Length: 0\r\n\r\n")
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let first = try await fetcher.fetch(server.address("/"))
            let second = try await fetcher.fetch(server.address("/"), .revalidate, known: first)
            #expect(!second.isNotModified)
            #expect(server.paths == ["/", "/keys1", "/", "/keys2"])
            #expect(!server.requests.contains { $0.contains("If-None-Match") })
        }
    }

    // MARK: Answers

    @Test func `a confirmed document is the one that was known, for as long as is said now`() async throws {
        try await RawServer.run(answering: { head in
            if head.contains("If-None-Match: \"v2\"") {
                .bytes(Self.confirmation + "\r\n")
            } else if head.contains("If-None-Match: \"v1\"") {
                .bytes(Self.confirmation + "ETag: \"v2\"\r\nCache-Control: max-age=900\r\n\r\n")
            } else {
                .bytes(RawServer.response("{\"a\":1}", ["ETag: \"v1\"", "Cache-Control: max-age=600", "Age: 100"]))
            }
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            var document = try await fetcher.fetch(server.address("/"))
            #expect(document.lifetime == .seconds(500))
            // The first 304 changes lifetime and validator; the second changes nothing.
            for _ in 0..<2 {
                document = try await fetcher.fetch(server.address("/"), .revalidate, known: document)
                #expect(document.isNotModified)
                #expect(document.body == Array("{\"a\":1}".utf8))
                #expect(document.lifetime == .seconds(900))
            }
            #expect(Self.fields(try #require(server.requests.last)) == ["if-none-match: \"v2\""])
        }
    }

    @Test func `a document that has changed comes whole, with its own fields alone`() async throws {
        try await RawServer.run(answering: { head in
            head.contains("If-None-Match")
                ? .bytes(RawServer.response("{\"b\":2}"))
                : .bytes(RawServer.response("{\"a\":1}", ["ETag: \"v1\"", "Cache-Control: max-age=600"]))
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let first = try await fetcher.fetch(server.address("/"))
            let second = try await fetcher.fetch(server.address("/"), .revalidate, known: first)
            #expect(!second.isNotModified)
            #expect(second.body == Array("{\"b\":2}".utf8))
            #expect(second.lifetime == nil)
            _ = try await fetcher.fetch(server.address("/"), .revalidate, known: second)
            #expect(Self.fields(try #require(server.requests.last)) == [])
        }
    }

    /// Broken caches or servers.
    @Test(
        arguments: ["", "Location: /elsewhere\r\n", "ETag: \"v1\"\r\n"], [FetchMode.reload, .revalidate])
    func `an unsolicited 304 is a failure`(fields: String, mode: FetchMode) async throws {
        try await RawServer.run(answering: { head in
            head.hasPrefix("GET /first ")
                ? .bytes(RawServer.response("{}", mode == .reload ? ["ETag: \"v1\""] : []))
                : .bytes(Self.confirmation + fields + "\r\n")
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let known = try await fetcher.fetch(server.address("/first"))
            for document in [known, nil] {
                let failure = await #expect(throws: FetchFailure.self) {
                    try await fetcher.fetch(server.address("/"), mode, known: document)
                }
                #expect(failure == FetchFailure(.http, "the server answered with status 304"))
            }
            #expect(server.paths == ["/first", "/", "/"])
        }
    }

    @Test(arguments: ["412 Precondition Failed", "404 Not Found", "204 No Content"])
    func `other statuses mean to a question what they always mean`(status: String) async throws {
        try await RawServer.run(answering: { head in
            head.contains("If-None-Match")
                ? .bytes("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
                : .bytes(RawServer.response("{}", ["ETag: \"v1\""]))
        }) { server async throws in
            let fetcher = DocumentFetcher.onLoopback()
            let known = try await fetcher.fetch(server.address("/"))
            let failure = await #expect(throws: FetchFailure.self) {
                try await fetcher.fetch(server.address("/"), .revalidate, known: known)
            }
            #expect(failure?.phase == .http)
            #expect(failure?.message == "the server answered with status \(status.prefix(3))")
        }
    }

    // MARK: Busy servers

    @Test(
        arguments: [
            ("503 Busy", "Retry-After: 120", 120), ("429 Too Many Requests", "Retry-After: 0", 0),
            ("503 Busy", "Retry-After:   5  ", 5), ("503 Busy", "Retry-After: 99999999999999999999", 1 << 31),
            ("503 Busy", "Retry-After: -1", nil), ("503 Busy", "Retry-After: 1.5", nil),
            ("503 Busy", "Retry-After:", nil),
            ("503 Busy", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", nil), ("503 Busy", "X: 1", nil),
            ("500 Internal Server Error", "Retry-After: 120", nil), ("404 Not Found", "Retry-After: 120", nil),
            ("502 Bad Gateway", "Retry-After: 120", nil),
        ] as [(String, String, Int64?)])
    func `a busy server says in seconds when to come again`(status: String, field: String, seconds: Int64?) async throws
    {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("", status: status, [field])) }) {
            server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback().fetch(server.address("/"))
            }
            #expect(failure?.retryAfter == seconds.map(Interval.seconds))
            #expect(failure?.message == "the server answered with status \(status.prefix(3))")
        }
    }
}
