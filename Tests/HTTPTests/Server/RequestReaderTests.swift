import Bytes
@testable import HTTP
import Testing
import TestSupport

/// The result does not depend on how bytes are split into pieces.
@Suite struct RequestReaderTests {
    /// Bytes, the number of requests in them, and the error that ends them.
    private typealias Sample = (bytes: String, requests: Int, fault: HTTPFault?)

    private static let table: [Sample] = [
        (get("/a"), 1, nil),
        (get("/a") + get("/b?c") + get("/d"), 3, nil),
        ("\r\n\r\n" + get("/a") + "\r\n" + get("/b"), 2, nil),
        ("GET http://h/a?b HTTP/1.1\r\nHost: h\r\n\r\n", 1, nil),
        ("OPTIONS * HTTP/1.1\r\nhOST:h:80\r\nX:\t a b \t\r\nx:\r\n\r\n", 1, nil),
        ("GET /a HTTP/1.0\r\n\r\n" + get("/behind"), 1, nil),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: x, close\r\n\r\nnonsense\r\n", 1, nil),
        ("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\nnonsense\r\n", 1, nil),
        (post("/a", "Content-Length: 5", "hello") + get("/b"), 2, nil),
        (post("/a", "Content-Length: 000", get("/b")), 2, nil),
        (post("/a", "Content-Length: 37", get("/inside") + get("/b")), 1, .malformed),
        (post("/a", "Content-Length: 6", "hello"), 0, nil),
        (post("/a", "Expect: 100-continue\r\nContent-Length: 2", "ok"), 1, nil),
        (post("/a", "Transfer-Encoding: chunked", "0\r\n\r\n") + get("/b"), 2, nil),
        (post("/a", "Transfer-Encoding: Chunked", "3\r\nhel\r\n00002\r\nlo\r\n0\r\n\r\n") + get("/b"), 2, nil),
        (post("/a", "Transfer-Encoding: chunked", "A;b;c=d;e=\"f;\\\"\r g\"\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5;b;c=d;e=\"f;\\\"\"\r\nhello\r\n0;x\r\n\r\n"), 1, nil),
        (post("/a", "Transfer-Encoding: chunked", "2\r\n\r\n\r\n0\r\nTrailer: x\r\ny:\r\n\r\n") + get("/b"), 2, nil),
        (post("/a", "Transfer-Encoding: chunked", "5\r\nhello"), 0, nil),
        (post("/a", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "0\r\nTransfer-Encoding: chunked\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "0\r\nconnection: close\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "0\r\n folded\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "0\r\na: b\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "0\n\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5 \r\nhello\r\n0\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5;\r\nhello\r\n0\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5\r\nhello0\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "5\r\nhello\n0\r\n\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "10000000000000000\r\n"), 0, .malformed),
        (post("/a", "Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFF\r\n"), 0, .bodyTooLarge),
        (post("/a", "Content-Length: 1001"), 0, .bodyTooLarge),
        (post("/a", "Content-Length: 18446744073709551615"), 0, .bodyTooLarge),
        (post("/a", "Content-Length: 18446744073709551616"), 0, .malformed),
        (post("/a", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 0, .malformed),
        (post("/a", "Content-Length: 5\r\nContent-Length: 5", "hello"), 0, .malformed),
        (get("/a") + "nonsense\r\n\r\n" + get("/behind"), 1, .malformed),
        (get("/a") + "\n" + get("/behind"), 1, .malformed),
        (get("/a") + "\r" + get("/behind"), 1, .malformed),
        ("GET /a HTTP/1.1\nHost: h\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h\r\n\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost : h\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h\u{0}\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1\r\nHost: h/i\r\n\r\n", 0, .malformed),
        ("GET /a HTTP/1.1 \r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET  /a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET /a\tHTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET http://h@i/a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("GET 1://h/a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("get /a HTTP/1.1\r\nHost: h\r\n\r\n", 1, nil),
        (" GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 0, .malformed),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, .malformed),
        ("\u{16}\u{3}\u{1}\u{2}\n", 0, .malformed),
    ]

    @Test func `bytes cut anywhere give the same requests and faults as in one piece`() throws {
        for (text, requests, fault) in Self.table {
            let bytes = Array(text.utf8)
            let whole = Reading(bytes)
            try #require(whole.requests.count == requests && whole.fault == fault, "\(text.debugDescription): \(whole)")
            for cut in bytes.indices.dropFirst() {
                let reading = Reading([bytes[..<cut], bytes[cut...]])
                try #require(reading == whole, "\(text.debugDescription) cut at \(cut): \(reading)")
            }
        }
    }

    @Test func `bytes that come one by one, or in any pieces, give the same as in one`() throws {
        var generator = SplitMix64(seed: 9112)
        for (text, _, _) in Self.table {
            let bytes = Array(text.utf8)
            let whole = Reading(bytes)
            try #require(Reading(bytes.indices.map { bytes[$0...$0] }) == whole, "\(text.debugDescription) one by one")
            for round in 0..<20 {
                let pieces = bytes[...].pieces(of: 1...(2 << (round / 4)), &generator)
                try #require(Reading(pieces) == whole, "\(text.debugDescription) in \(pieces.map(\.count))")
            }
        }
    }

    /// Heads of 100 bytes, the limit below, or 101: with a long target, a long field, or a long field after blank
    /// lines.
    private static let heads: [Sample] =
        headsOf(100).map { ($0, 1, nil) } + headsOf(101).map { ($0, 0, .headersTooLarge) }

    private static func headsOf(_ length: Int) -> [String] {
        [
            ("GET /", " HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n"), ("GET / HTTP/1.1\r\nHost: h\r\nA: ", "b\r\n\r\n"),
            ("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nA: ", "b\r\n\r\n"), ("GET / HTTP/1.0\r\nA: ", "b\r\n\r\n"),
        ].map { start, end in start + many("x", length - start.utf8.count - end.utf8.count) + end }
    }

    private static let beyondHeads: [Sample] = [
        // An error within the limit is reported, whatever follows. An error beyond the limit is not read.
        ("GET /\u{1} HTTP/1.1\r\nHost: h\r\nA: " + many("x", 200) + "\r\n\r\n", 0, .malformed),
        ("GET /\u{1}" + many("x", 200), 0, .malformed),
        ("GET /" + many("x", 200) + "\u{1}", 0, .headersTooLarge),
        ("GET / HTTP/1.1\r\nHost: h\r\n" + many("A: b\r\n", 30) + "A b\r\n\r\n", 0, .headersTooLarge),
        (many("\r\n", 51), 0, .headersTooLarge),
    ]

    /// Chunked bodies of up to 200 octets with 100 bytes of overhead, the limits below, or more.
    private static let chunkedBodies: [Sample] = [
        (chunked("1;" + many("x", 113) + "\r\nx\r\n0\r\n\r\n"), 1, nil),
        (chunked("1;" + many("x", 114) + "\r\nx\r\n0\r\n\r\n"), 0, .headersTooLarge),
        (chunked("1;" + many("x", 115) + "="), 0, .headersTooLarge),
        (chunked(many("0", 114) + "1\r\nx\r\n0\r\n\r\n"), 1, nil),
        (chunked(many("0", 115) + "1\r\nx\r\n0\r\n\r\n"), 0, .headersTooLarge),
        (chunked(many(many("0", 64) + "1\r\nx\r\n", 2) + "0\r\n\r\n"), 1, nil),
        (chunked(many(many("0", 64) + "1\r\nx\r\n", 3)), 0, .headersTooLarge),
        (chunked("0\r\n" + many("a:b\r\n", 24) + "\r\n"), 1, nil),
        (chunked("0\r\n" + many("a:b\r\n", 25) + "\r\n"), 0, .headersTooLarge),
        (chunked(many("1\r\nx\r\n", 200) + "0\r\n\r\n"), 1, nil),
        (chunked(many("1\r\nx\r\n", 201) + "0\r\n\r\n"), 0, .bodyTooLarge),
    ]

    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static func chunked(_ chunks: String) -> String { post("/a", "Transfer-Encoding: chunked", chunks) }

    @Test func `limits are the same however the bytes are cut`() throws {
        var generator = SplitMix64(seed: 431)
        for (text, requests, fault) in Self.heads + Self.beyondHeads + Self.chunkedBodies {
            let bytes = Array(text.utf8)
            let whole = Reading(bytes, maximumHeader: 100, bodyLimit: 200)
            let shown = "\(text.debugDescription), \(bytes.count) bytes"
            try #require(whole.requests.count == requests && whole.fault == fault, "\(shown): \(whole)")
            let one = Reading(bytes.indices.map { bytes[$0...$0] }, maximumHeader: 100, bodyLimit: 200)
            try #require(one == whole, "\(shown) one by one: \(one)")
            for _ in 0..<20 {
                let pieces = bytes[...].pieces(of: 1...80, &generator)
                let reading = Reading(pieces, maximumHeader: 100, bodyLimit: 200)
                try #require(reading == whole, "\(shown) in \(pieces.map(\.count)): \(reading)")
            }
        }
    }

    @Test func `a hundred fields and a hundred trailers are read, and no more`() {
        for count in [100, 101] {
            let fields = (1..<count).map { "X: \($0)\r\n" }.joined()
            let trailers = (0..<count).map { "X: \($0)\r\n" }.joined()
            let texts = [
                "GET /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n", Self.chunked("1\r\nx\r\n0\r\n\(trailers)\r\n"),
            ]
            for text in texts {
                let bytes = Array(text.utf8)
                let whole = Reading(bytes)
                #expect(whole.fault == (count > 100 ? .headersTooLarge : nil))
                #expect(whole.requests.count == (count > 100 ? 0 : 1))
                #expect(Reading(bytes.indices.map { bytes[$0...$0] }) == whole)
            }
        }
    }

    @Test func `reading goes on where a body ends, with nothing of it held`() throws {
        var reader = RequestReader(maximumHeader: 1000)
        let bytes = Array((post("/a", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n") + get("/b")).utf8)
        let head = try reader.next(bytes.span, bodyLimit: 10)
        let half = try reader.next(bytes.span.extracting(head.taken..<(head.taken + 6)), bodyLimit: 10)
        #expect(half.step == nil)
        #expect(half.taken == 6)
        #expect(reader.heldBytes >= 3)
        let rest = try reader.next(bytes.span.extracting((head.taken + 6)...), bodyLimit: 10)
        guard case .end(let body) = rest.step else {
            Issue.record("the body is all there")
            return
        }
        #expect(text(body) == "hello")
        #expect(reader.heldBytes == 0)
        let next = try reader.next(bytes.span.extracting((head.taken + 6 + rest.taken)...), bodyLimit: 10)
        guard case .head(let head) = next.step else {
            Issue.record("the next head is all there")
            return
        }
        #expect(head.path == "/b")
    }

    @Test func `what trickles in is looked at once, not once for each byte`() {
        let clock = ContinuousClock()
        let field = "X: \(String(repeating: "x", count: 15_000))\r\n"
        let texts = [
            "GET /\(String(repeating: "x", count: 15_000)) HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n\(field)\r\n", Self.chunked("0\r\n\(field)\r\n"),
            Self.chunked("1;\(String(repeating: "x", count: 15_000))\r\nx\r\n0\r\n\r\n"),
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            let start = clock.now
            let reading = Reading(bytes.indices.map { bytes[$0...$0] }, maximumHeader: 16_384)
            #expect(reading.requests.count == 1, "\(reading)")
            // Reading each byte once takes far less than a second, even unoptimized; 15,000 times would take many
            // seconds.
            #expect(clock.now - start < .seconds(5))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The same bytes in pieces of random lengths.
    fileprivate func pieces(of lengths: ClosedRange<Int>, _ generator: inout SplitMix64) -> [ArraySlice] {
        var rest = self
        var pieces: [ArraySlice] = []
        while !rest.isEmpty {
            let length = Int.random(in: lengths, using: &generator)
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
