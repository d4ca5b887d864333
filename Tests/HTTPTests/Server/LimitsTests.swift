import HTTP
import Testing
import TestSupport

@Suite struct LimitsTests {

    // MARK: Bodies

    @Test(arguments: [(10, 200), (11, 413)])
    func `a body of exactly the limit passes and one byte more does not`(length: Int, status: Int) async throws {
        try await Listening.run { listening async throws in
            let body = String(repeating: "x", count: length)
            let announced = try await listening.first(post("/small", "Content-Length: \(length)", body))
            #expect(announced.status == status)
            let chunk = "\(String(length, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            let chunked = try await listening.first(post("/small", "Transfer-Encoding: chunked", chunk))
            #expect(chunked.status == status)
            #expect(chunked.closes == (status == 413))
        }
    }

    @Test func `a body that is announced too large is refused before it is sent`() async throws {
        try await Listening.run { listening async throws in
            let response = try await listening.first(post("/a", "Content-Length: 10000000000"))
            #expect(response.status == 413)
            #expect(response.body == "bodyTooLarge /a")
            #expect(response.closes)
        }
    }

    @Test func `chunks are refused as soon as they sum up to too much`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(post("/small", "Transfer-Encoding: chunked"))
            for _ in 0..<11 { try await wire.send("1\r\nx\r\n") }
            #expect(try await wire.response().status == 413)
            // Data sent meanwhile is dropped, and the response still arrives.
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

    // MARK: Numbers

    @Test func `connections beyond the limit get 503 and are closed`() async throws {
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
            #expect(listening.listener.usage.openConnections == 2)
            try await first.close()
            try await eventually { listening.listener.usage.openConnections == 1 }
            #expect(try await listening.first(get("/4")).body == "GET /4 -")
        }
    }

    @Test func `waiting requests beyond the limit get 503`() async throws {
        var limits = ListenerLimits()
        limits.maximumInFlight = 2
        try await Listening.run(limits) { listening async throws in
            let waiting = [try await Wire.connect(listening), try await Wire.connect(listening)]
            for wire in waiting { try await wire.send(get("/park")) }
            try await listening.parked.arrived(2)
            #expect(listening.listener.usage.requestsInFlight == 2)
            #expect(try await listening.first(get("/park")).status == 503)
            // A request that is answered at once does not count, whether it arrives in one piece or two.
            #expect(try await listening.first(get("/a")).status == 200)
            let slow = try await Wire.connect(listening)
            try await slow.send(post("/a", "Content-Length: 5", "he"))
            try await eventually { listening.listener.usage.requestsInFlight == 3 }
            try await slow.send("llo")
            #expect(try await slow.response().status == 200)
            #expect(listening.listener.usage.requestsInFlight == 2)
            listening.parked.release()
            _ = try await waiting[0].response()
            try await eventually { listening.listener.usage.requestsInFlight == 1 }
            // The refused request did not count.
            try await waiting[0].send(get("/park"))
            try await listening.parked.arrived(3)
            #expect(listening.listener.usage.requestsInFlight == 2)
        }
    }

    @Test func `bodies that are not yet whole may hold only so much together`() async throws {
        var limits = ListenerLimits()
        limits.maximumBuffered = 1200
        try await Listening.run(limits) { listening async throws in
            func half(_ sent: Int) -> String {
                post("/wide", "Content-Length: 1001", String(repeating: "x", count: sent))
            }
            let first = try await Wire.connect(listening)
            try await first.send(half(1000))
            try await eventually { listening.listener.usage.requestsInFlight == 1 }
            // A request that is complete at once is not buffered; otherwise, the received part counts.
            let whole = post("/a", "Content-Length: 500", String(repeating: "x", count: 500))
            #expect(try await listening.first(whole).status == 200)
            #expect(try await listening.first(half(100)).status == 503)
            try await first.close()
            try await eventually { listening.listener.usage.requestsInFlight == 0 }
            let second = try await Wire.connect(listening)
            try await second.send(half(999))
            try await eventually { listening.listener.usage.requestsInFlight == 1 }
            let refused = try await listening.first(half(100))
            #expect(refused.status == 503)
            #expect(refused.closes)
            // A complete request is no longer buffered.
            try await second.send("xx")
            #expect(try await second.response().status == 200)
            #expect(listening.listener.usage.requestsInFlight == 0)
        }
    }

    @Test func `a request that comes in slowly is under way until it is answered`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(post("/a", "Content-Length: 5", "he"))
            try await eventually { listening.listener.usage.requestsInFlight == 1 }
            try await wire.send("llo")
            #expect(try await wire.response().body == "POST /a hello")
            #expect(listening.listener.usage.requestsInFlight == 0)
        }
    }

    // MARK: Time

    @Test func `an incomplete request gets 408, wherever it stopped`() async throws {
        var limits = ListenerLimits()
        limits.requestTimeoutSeconds = 1
        try await Listening.run(limits) { listening async throws in
            let parts = [
                "GET /a HTTP/1.1\r\nHo", post("/a", "Content-Length: 5", "he"),
                post("/a", "Transfer-Encoding: chunked", "5\r\nhe"),
            ]
            var wires: [Wire] = []
            for part in parts {
                let wire = try await Wire.connect(listening)
                try await wire.send(part)
                wires.append(wire)
            }
            let waiting = try await Wire.connect(listening)
            try await waiting.send(get("/park"))
            for wire in wires {
                let response = try await wire.response()
                #expect(response.status == 408)
                #expect(response.closes)
            }
            // A client that waits for us has no timeout.
            listening.parked.release()
            #expect(try await waiting.response().body == "released")
            try await eventually { listening.listener.usage.requestsInFlight == 0 }
        }
    }

    @Test func `a connection on which nothing is asked is closed without a word`() async throws {
        var limits = ListenerLimits()
        limits.idleTimeoutSeconds = 1
        try await Listening.run(limits) { listening async throws in
            let silent = try await Wire.connect(listening)
            #expect(try await silent.untilClosed() == "")
            try await eventually { listening.listener.usage.openConnections == 0 }
        }
    }

    @Test func `bytes that trickle in do not buy more time`() async throws {
        var limits = ListenerLimits()
        limits.requestTimeoutSeconds = 1
        try await Listening.run(limits) { listening async throws in
            let wire = try await Wire.connect(listening)
            let clock = ContinuousClock()
            let start = clock.now
            // Sends one more byte after each response on another connection.
            let sending = Task {
                for byte in Array(post("/wide", "Content-Length: 5000").utf8)
                    + [UInt8](repeating: 0x78, count: 4000)
                {
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
