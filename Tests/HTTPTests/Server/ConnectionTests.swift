import HTTP
import Testing
import TestSupport

@Suite struct ConnectionTests {
    @Test func `a connection takes one request after the other`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            for index in 0..<20 {
                try await wire.send(get("/\(index)"))
                let response = try await wire.response()
                #expect(response.body == "GET /\(index) -")
                #expect(!response.closes)
            }
            #expect(listening.listener.usage.openConnections == 1)
        }
    }

    @Test func `pipelined requests are answered in order`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send((0..<200).map { get("/\($0)") }.joined())
            for index in 0..<200 { #expect(try await wire.response().body == "GET /\(index) -") }
        }
    }

    @Test func `pipelined requests keep their order behind one that waits`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/1") + get("/park") + get("/3") + get("/park") + get("/5"))
            #expect(try await wire.response().body == "GET /1 -")
            try await listening.parked.arrived(1)
            try await wire.send("POST /6 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok" + get("/7"))
            listening.parked.release("2")
            #expect(try await wire.response().body == "2")
            #expect(try await wire.response().body == "GET /3 -")
            try await listening.parked.arrived(2)
            listening.parked.release("4")
            let rest = [
                try await wire.response(), try await wire.response(), try await wire.response(),
                try await wire.response(),
            ]
            #expect(rest.map(\.body) == ["4", "GET /5 -", "POST /6 ok", "GET /7 -"])
        }
    }

    @Test(arguments: [
        "Content-Length: 100", "Content-Length: 9999999999", "Transfer-Encoding: chunked",
        "Expect: 100-continue\r\nContent-Length: 5",
    ])
    func `a request answered on its head waits for no body, and ends the connection`(body: String) async throws {
        try await Listening.run { listening async throws in
            for path in ["/head", "/head-park"] {
                let wire = try await Wire.connect(listening)
                try await wire.send("POST \(path) HTTP/1.1\r\nHost: h\r\n\(body)\r\n\r\n")
                if path == "/head-park" {
                    try await listening.parked.arrived(1)
                    listening.parked.release("POST /head-park -")
                }
                let response = try await wire.response()
                #expect(response.status == 200)
                #expect(response.body == "POST \(path) -")
                #expect(response.closes)
                wire.offer(get("/smuggled"))
                #expect(try await wire.untilClosed() == "")
            }
        }
    }

    @Test func `a request answered on its head keeps the connection if it has no body`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(
                get("/head") + "POST /head HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n" + get("/a"))
            #expect(try await wire.response().body == "GET /head -")
            #expect(try await wire.response().body == "POST /head -")
            #expect(try await wire.response().body == "GET /a -")
        }
    }

    @Test func `repeated fields are the responder's to judge on such a path`() async throws {
        try await Listening.run { listening async throws in
            let fields = "Authorization: a\r\nAuthorization: b\r\nContent-Type: a\r\nContent-Type: b"
            #expect(try await listening.first("GET /head HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n").status == 200)
        }
    }

    @Test func `a request that waits holds up no other connection`() async throws {
        try await Listening.run { listening async throws in
            let waiting = try await Wire.connect(listening)
            try await waiting.send(get("/park"))
            try await listening.parked.arrived(1)
            #expect(try await listening.first(get("/a")).body == "GET /a -")
            listening.parked.release()
            #expect(try await waiting.response().body == "released")
        }
    }

    @Test(arguments: [
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: CLOSE, X-Request-Id\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n", false),
        ("GET /a HTTP/1.0\r\n\r\n", true),
        ("GET /a HTTP/1.0\r\nHost: h\r\n\r\n", true),
        ("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
        ("GET /last HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", false),
        ("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", true),
    ])
    func `a connection is kept or closed as the request wants, and says so`(request: String, closes: Bool) async throws
    {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(request)
            let response = try await wire.response()
            #expect(response.status == 200)
            #expect(response.closes == closes)
            wire.offer(get("/again"))
            if closes {
                #expect(try await wire.untilClosed() == "")
            } else {
                #expect(try await wire.response().body == "GET /again -")
            }
        }
    }

    @Test func `nothing behind the last request is answered`() async throws {
        try await Listening.run { listening async throws in
            let answers = try await listening.exchange(get("/1") + get("/last") + get("/3"))
            #expect(answers.contains("GET /1 -"))
            #expect(answers.hasSuffix("last"))
            #expect(!answers.contains("/3"))
        }
    }

    @Test func `an upgrade is passed over, and the request answered as it is`() async throws {
        try await Listening.run { listening async throws in
            // As Java's client does on its first request.
            let wire = try await Wire.connect(listening)
            try await wire.send(
                "POST /a HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: 2\r\nHost: h\r\n"
                    + "HTTP2-Settings: AAEAAEAAAAIAAAAB\r\nUpgrade: h2c\r\n\r\nok" + get("/b"))
            #expect(try await wire.response().body == "POST /a ok")
            #expect(try await wire.response().body == "GET /b -")
        }
    }

    // MARK: Half-closed

    @Test func `who has sent all and says so is still answered`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/1") + get("/2"))
            try await wire.halfClose()
            let answers = try await wire.untilClosed()
            #expect(answers.contains("GET /1 -"))
            #expect(answers.hasSuffix("GET /2 -"))
        }
    }

    @Test func `who has sent all and says so is answered after waiting, with all that came behind`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/park"))
            try await listening.parked.arrived(1)
            try await wire.send(get("/2") + get("/3"))
            try await wire.halfClose()
            // A request on a second connection passes through the same loop, so by then the first connection's end has
            // been read.
            _ = try await listening.first(get("/a"))
            listening.parked.release("1")
            let first = try await wire.response()
            #expect(first.body == "1")
            #expect(try await wire.response().body == "GET /2 -")
            let last = try await wire.response()
            #expect(last.body == "GET /3 -")
            #expect(try await wire.untilClosed() == "")
        }
    }

    @Test(arguments: [
        "GET /a HT", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ])
    func `who stops in the middle gets no answer as if it were the end`(request: String) async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(request)
            try await wire.halfClose()
            let answer = try await wire.untilClosed()
            #expect(answer == "" || answer.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test func `who goes away while waiting is forgotten`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(get("/park"))
            try await listening.parked.arrived(1)
            #expect(listening.listener.usage.requestsInFlight == 1)
            try await wire.close()
            // Half-closed; fully closed once the response can't be written.
            listening.parked.release()
            try await eventually {
                listening.listener.usage.openConnections == 0 && listening.listener.usage.requestsInFlight == 0
            }
        }
    }

    // MARK: Closing

    @Test func `closing answers what is under way on nothing, and ends idle connections`() async throws {
        try await Listening.run(loops: 2) { listening async throws in
            var wires: [Wire] = []
            for _ in 0..<4 { wires.append(try await Wire.connect(listening)) }
            for wire in wires {
                try await wire.send(get("/a"))
                _ = try await wire.response()
            }
            #expect(listening.listener.usage.openConnections == 4)
            await listening.listener.close()
            for wire in wires { #expect(try await wire.untilClosed() == "") }
            #expect(listening.listener.usage.openConnections == 0)
            await #expect(throws: (any Error).self) { try await Wire.connect(listening) }
        }
    }

    @Test func `a last answer is read before closing, and who waits longer is cut off`() async throws {
        try await Listening.run { listening async throws in
            let answered = try await Wire.connect(listening)
            try await answered.send(get("/park"))
            try await listening.parked.arrived(1)
            let forgotten = try await Wire.connect(listening)
            try await forgotten.send(get("/park"))
            try await listening.parked.arrived(2)
            async let closed: Void = listening.listener.close()
            listening.parked.release("answered", closes: true)
            #expect(try await answered.response().body == "answered")
            await closed
            #expect(try await forgotten.untilClosed() == "")
            // It counts as in flight while anything is buffered for it.
            #expect(listening.listener.usage.requestsInFlight == 1)
            listening.parked.release("too late")
            try await eventually { listening.listener.usage.requestsInFlight == 0 }
        }
    }
}
