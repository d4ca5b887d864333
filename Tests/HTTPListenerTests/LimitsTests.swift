import HTTPListener
import Testing

private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

@Suite struct LimitsTests {
    private static func post(_ path: String, _ fields: String, _ body: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)"
    }

    // MARK: Bodies

    @Test(arguments: [(10, 200), (11, 413)])
    func `a body of exactly the limit passes and one byte more does not`(length: Int, status: Int) async throws {
        try await Listening.run { listening async throws in
            let body = String(repeating: "x", count: length)
            let announced = try await listening.first(Self.post("/small", "Content-Length: \(length)", body))
            #expect(announced.status == status)
            let chunk = "\(String(length, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            let chunked = try await listening.first(Self.post("/small", "Transfer-Encoding: chunked", chunk))
            #expect(chunked.status == status)
            #expect(chunked.closes == (status == 413))
        }
    }

    @Test func `a body that is announced too large is refused before it is sent`() async throws {
        try await Listening.run { listening async throws in
            let response = try await listening.first(Self.post("/a", "Content-Length: 10000000000"))
            #expect(response.status == 413)
            #expect(response.body == "bodyTooLarge /a")
            #expect(response.closes)
        }
    }

    @Test func `chunks are refused as soon as they sum up to too much`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(Self.post("/small", "Transfer-Encoding: chunked"))
            for _ in 0..<11 { try await wire.send("1\r\nx\r\n") }
            #expect(try await wire.response().status == 413)
            // What was sent meanwhile is dropped and takes no answer away.
            wire.offer("1\r\nx\r\n0\r\n\r\n" + get("/again"))
            #expect(try await wire.untilClosed() == "")
        }
    }

    @Test func `a large answer arrives whole, and those behind it`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(String(repeating: get("/large"), count: 40) + get("/after"))
            for _ in 0..<40 { #expect(try await wire.response().body.utf8.count == 256 * 1024) }
            #expect(try await wire.response().body == "GET /after -")
        }
    }

    // MARK: Heads

    @Test func `a head within the limits passes and one beyond does not`() async throws {
        var limits = ListenerLimits()
        limits.maximumHeader = 2000
        try await Listening.run(limits) { listening async throws in
            let head = { (length: Int) in
                "GET /a HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: length))\r\n\r\n"
            }
            #expect(try await listening.first(head(1900)).status == 200)
            let refused = try await listening.first(head(2100))
            #expect(refused.status == 431)
            #expect(refused.closes)
            let many = (0..<50).map { "X-\($0): \(String(repeating: "x", count: 50))\r\n" }.joined()
            #expect(try await listening.first("GET /a HTTP/1.1\r\nHost: h\r\n\(many)\r\n").status == 431)
        }
    }

    @Test(arguments: [(100, 200), (101, 431)])
    func `there may be a hundred fields`(count: Int, status: Int) async throws {
        try await Listening.run { listening async throws in
            let fields = (1..<count).map { "X-\($0): 1\r\n" }.joined()
            #expect(try await listening.first("GET /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").status == status)
        }
    }

    @Test func `a request line without end is refused`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            wire.offer("GET /" + String(repeating: "a", count: 200_000))
            let status = try await wire.response().status
            #expect(status == 431 || status == 400)
        }
    }

    // MARK: Framing

    @Test(arguments: [
        // Attacks of the kind that has one server see a body where the next sees a request.
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
            let answer = try await listening.exchange(Self.post("/a", fields, smuggled))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(40))")
            #expect(!answer.contains("/smuggled -"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
            #expect(answer.components("HTTP/1.1 ") == 1)
        }
    }

    @Test(arguments: [
        "FFFFFFFFFFFFFFFFF\r\n", "-1\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \u{1}\r\nhello\r\n0\r\n\r\n",
        "g\r\n", "\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
    ])
    func `chunks that make no sense are refused`(chunks: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                Self.post("/a", "Transfer-Encoding: chunked", chunks + get("/smuggled")))
            #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 413 "), "\(answer.prefix(40))")
            #expect(!answer.contains("/smuggled -"))
        }
    }

    @Test(arguments: ["FFFFFFFFFFFFFFFF", "7fffffffffffffff", "00000000000003e9"])
    func `a chunk of absurd size is refused once there is too much of it`(size: String) async throws {
        try await Listening.run { listening async throws in
            let answer = try await listening.exchange(
                Self.post("/a", "Transfer-Encoding: chunked", "\(size)\r\n" + String(repeating: "x", count: 1001)))
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer.prefix(40))")
        }
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /a\r\n\r\n", "GET /a HTTP/1\r\n\r\n", "GET /a HTTP/2.0\r\nHost: h\r\n\r\n", "GET /a HTTP/0.9\r\n\r\n",
        "GET /a HTTPS/1.1\r\nHost: h\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "nonsense\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        // RFC 9112, 3.2: one Host, and only one.
        "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
    ])
    func `what is no HTTP of one meaning is refused and the connection closed`(bytes: String) async throws {
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
            await listening.parked.arrived(1)
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
            try await wire.send(get("/park") + Self.post("/small", "Content-Length: 11", "01234567890") + get("/3"))
            await listening.parked.arrived(1)
            listening.parked.release("1")
            #expect(try await wire.response().body == "1")
            #expect(try await wire.response().status == 413)
            #expect(try await wire.untilClosed() == "")
        }
    }

    // MARK: Numbers

    @Test func `connections beyond the limit are told so and closed`() async throws {
        var limits = ListenerLimits()
        limits.maximumConnections = 2
        try await Listening.run(limits) { listening async throws in
            let first = try await Wire.connect(listening)
            try await first.send(get("/1"))
            _ = try await first.response()
            let second = try await Wire.connect(listening)
            try await second.send(get("/2"))
            _ = try await second.response()
            let third = try await Wire.connect(listening)
            let refused = try await third.response()
            #expect(refused.status == 503)
            #expect(refused.closes)
            #expect(listening.listener.openConnections == 2)
            try await first.close()
            try await eventually { listening.listener.openConnections == 1 }
            #expect(try await listening.first(get("/4")).body == "GET /4 -")
        }
    }

    @Test func `requests under way beyond the limit are told so`() async throws {
        var limits = ListenerLimits()
        limits.maximumInFlight = 2
        try await Listening.run(limits) { listening async throws in
            let waiting = [try await Wire.connect(listening), try await Wire.connect(listening)]
            for wire in waiting { try await wire.send(get("/park")) }
            await listening.parked.arrived(2)
            #expect(listening.listener.requestsInFlight == 2)
            #expect(try await listening.first(get("/park")).status == 503)
            // Half a body counts, and what is answered at once does not.
            #expect(try await listening.first(Self.post("/a", "Content-Length: 5", "he")).status == 503)
            #expect(try await listening.first(get("/a")).status == 200)
            listening.parked.release()
            _ = try await waiting[0].response()
            try await eventually { listening.listener.requestsInFlight == 1 }
            // The one refused above was parked too, and nobody waits for it any more.
            try await waiting[0].send(get("/park"))
            await listening.parked.arrived(4)
            #expect(listening.listener.requestsInFlight == 2)
        }
    }

    @Test func `a request that comes in slowly is under way until it is answered`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(Self.post("/a", "Content-Length: 5", "he"))
            try await eventually { listening.listener.requestsInFlight == 1 }
            try await wire.send("llo")
            #expect(try await wire.response().body == "POST /a hello")
            #expect(listening.listener.requestsInFlight == 0)
        }
    }

    // MARK: Time

    @Test func `a request that is not there in time is told so, wherever it stopped`() async throws {
        var limits = ListenerLimits()
        limits.requestTimeoutSeconds = 1
        limits.idleTimeoutSeconds = 1
        try await Listening.run(limits) { listening async throws in
            let parts = [
                "GET /a HTTP/1.1\r\nHo", Self.post("/a", "Content-Length: 5", "he"),
                Self.post("/a", "Transfer-Encoding: chunked", "5\r\nhe"),
            ]
            var wires: [Wire] = []
            for part in parts {
                let wire = try await Wire.connect(listening)
                try await wire.send(part)
                wires.append(wire)
            }
            let silent = try await Wire.connect(listening)
            let waiting = try await Wire.connect(listening)
            try await waiting.send(get("/park"))
            for wire in wires {
                let response = try await wire.response()
                #expect(response.status == 408)
                #expect(response.closes)
            }
            // Who has not begun a request is closed without a word; who waits for us is not hurried.
            #expect(try await silent.untilClosed() == "")
            listening.parked.release()
            #expect(try await waiting.response().body == "released")
            try await eventually { listening.listener.openConnections == 0 }
            #expect(listening.listener.requestsInFlight == 0)
        }
    }

    @Test func `bytes that trickle in do not buy more time`() async throws {
        var limits = ListenerLimits()
        limits.requestTimeoutSeconds = 1
        try await Listening.run(limits) { listening async throws in
            let wire = try await Wire.connect(listening)
            let clock = ContinuousClock()
            let start = clock.now
            // One byte more each time that another connection's request has come back.
            let sending = Task {
                for byte in Array(Self.post("/wide", "Content-Length: 5000").utf8) + [UInt8](repeating: 0x78, count: 4000) {
                    guard !Task.isCancelled, (try? await wire.send(bytes: [byte])) != nil else { return }
                    _ = try? await listening.first(get("/tick"))
                }
            }
            #expect(try await wire.response().status == 408)
            sending.cancel()
            #expect(clock.now - start < .seconds(8))
            await sending.value
        }
    }
}

extension String {
    /// How often another text is in this one.
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
