import HTTP
import Testing

/// Requests that two parsers could frame differently.
@Suite struct FramingTests {
    @Test(arguments: [
        // Request smuggling: one server sees a body where the next one sees a request.
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5",
        "Content-Length: +5", "Content-Length: -1", "Content-Length: 0x10", "Content-Length: 99999999999999999999",
        "Content-Length: 5 5", "Content-Length: five", "Content-Length:",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: \u{b}chunked", "Content-Length : 5", " Content-Length: 5", "Content-Length\r\n: 5",
        "X: a\u{0}b", "X Y: 1", ": 1",
    ])
    func `a body whose length two readers could see differently is refused`(fields: String) async throws {
        try await Listening.run { listening async throws in
            let smuggled = "0\r\n\r\n" + get("/smuggled")
            let answer = try await listening.exchange(post("/a", fields, smuggled))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(40))")
            #expect(!answer.contains("/smuggled -"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
            #expect(answer.components("HTTP/1.1 ") == 1)
        }
    }

    @Test(arguments: [
        "Content-Type: a\r\nContent-Type: b", "Content-Type: a\r\nContent-Type: a",
        "Authorization: a\r\nX: y\r\nauthorization: a",
        "CONTENT-TYPE:\r\ncontent-type: a",
    ])
    func `a field that may come once is refused if it comes twice`(fields: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                "POST /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\nContent-Length: 0\r\n\r\n" + get("/smuggled"))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(40))")
            #expect(answer.contains("repeatedField"))
            #expect(!answer.contains("/smuggled -"))
        }
    }

    @Test(arguments: [
        "Cache-Control: a\r\nCache-Control: b", "Authorization: a\r\nIf-None-Match: b",
        "X-Content-Typ: a\r\nContent-Type: b",
        "Content-Type: a\r\nX-Twelve-Chr: b", "Accept: a\r\nAccept: b", "Connection: x\r\nConnection: y",
        "Expect: x\r\nExpect: y",
    ])
    func `other fields may come twice`(fields: String) async throws {
        try await Listening.run { listening async throws in
            #expect(
                try await listening.first("POST /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\nContent-Length: 0\r\n\r\n")
                    .status == 200)
        }
    }

    @Test(arguments: [
        "Expect: x\r\nExpect: 100-continue", "Expect: 100-Continue\r\nExpect: x", "Expect: x, 100-continue",
    ])
    func `what is expected is a list`(fields: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                post("/last", fields + "\r\nContent-Length: 0", ""))
            #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "), "\(answer.prefix(40))")
        }
    }

    @Test(arguments: [
        "FFFFFFFFFFFFFFFFF\r\n", "-1\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \u{1}\r\nhello\r\n0\r\n\r\n",
        "g\r\n", "\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
    ])
    func `chunks that make no sense are refused`(chunks: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                post("/a", "Transfer-Encoding: chunked", chunks + get("/smuggled")))
            #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 413 "), "\(answer.prefix(40))")
            #expect(!answer.contains("/smuggled -"))
        }
    }

    @Test(arguments: ["FFFFFFFFFFFFFFFF", "7fffffffffffffff", "00000000000003e9"])
    func `a chunk of absurd size is refused once there is too much of it`(size: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                post("/a", "Transfer-Encoding: chunked", "\(size)\r\n" + String(repeating: "x", count: 1001)))
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer.prefix(40))")
        }
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /a\r\n\r\n", "GET /a HTTP/1\r\n\r\n", "GET /a HTTP/2.0\r\nHost: h\r\n\r\n", "GET /a HTTP/0.9\r\n\r\n",
        "GET /a HTTPS/1.1\r\nHost: h\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "nonsense\r\n\r\n",
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        // RFC 9112, 3.2: exactly one Host.
        "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
        // RFC 9112, 6.1: HTTP/1.0 has no transfer codings.
        "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func `ambiguous HTTP is rejected and the connection closed`(bytes: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(bytes + get("/smuggled"))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(40))")
            #expect(!answer.contains("/smuggled -"))
        }
    }

    @Test func `a fault behind requests that wait is answered after them`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/park") + get("/2") + "nonsense\r\n\r\n")
            try await listening.parked.arrived(1)
            listening.parked.release("1")
            let responses = [try await wire.response(), try await wire.response(), try await wire.response()]
            #expect(responses.map(\.status) == [200, 200, 400])
            #expect(responses.map(\.closes) == [false, false, true])
            #expect(responses.map(\.body) == ["1", "GET /2 -", "malformed -"])
            #expect(try await wire.untilClosed() == "")
        }
    }

    @Test func `a body too large behind a request that waits is answered after it`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/park") + post("/small", "Content-Length: 11", "01234567890") + get("/3"))
            try await listening.parked.arrived(1)
            listening.parked.release("1")
            #expect(try await wire.response().body == "1")
            #expect(try await wire.response().status == 413)
            #expect(try await wire.untilClosed() == "")
        }
    }
}

extension String {
    /// How often another text occurs in this one.
    fileprivate func components(_ other: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: other) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
