import HTTP
import Testing

@Suite struct RequestTests {
    @Test func `a response has its fields, each once, and its length`() async throws {
        try await Listening.run { listening async throws in
            let response = try await listening.first("GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(response.status == 200)
            #expect(response.reason == "OK")
            #expect(response.body == "GET /a -")
            #expect(
                response.headers == [
                    "content-type": "text/plain", "content-length": "8", "x-request-id": "id",
                    "cache-control": "no-store", "date": "Thu, 29 Feb 2024 12:34:56 GMT", "allow": "GET",
                ])
        }
    }

    @Test(arguments: [
        ("GET http://h/a/b?c HTTP/1.1", "GET /a/b -"),
        ("GET http://h HTTP/1.1", "GET  -"),
        ("OPTIONS * HTTP/1.1", "OPTIONS * -"),
        ("GET /a//b/../c HTTP/1.1", "GET /a//b/../c -"),
        ("GET /%2e%2F HTTP/1.1", "GET /%2e%2F -"),
        ("GET /a?b?c HTTP/1.1", "GET /a -"),
        ("GET //h/a HTTP/1.1", "GET //h/a -"),
        ("GET /a://b HTTP/1.1", "GET /a://b -"),
        ("DELETE /a HTTP/1.1", "DELETE /a -"),
    ])
    func `the path is what stands before the query`(line: String, body: String) async throws {
        try await Listening.run { listening async throws in
            #expect(try await listening.first("\(line)\r\nHost: h\r\n\r\n").body == body)
        }
    }

    @Test func `a query of an absolute URL without a path is no path`() async throws {
        try await Listening.run { listening async throws in
            #expect(try await listening.first("GET http://h?x=/a HTTP/1.1\r\nHost: h\r\n\r\n").body == "GET  -")
        }
    }

    @Test func `bodies come whole, by length, in chunks, and in pieces`() async throws {
        try await Listening.run { listening async throws in
            #expect(
                try await listening.first("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello").body
                    == "POST /a hello")
            #expect(
                try await listening.first(
                    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nhel\r\n2;ext=1\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"
                ).body == "POST /a hello")
            #expect(
                try await listening.first("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").body
                    == "POST /a -")
            let wire = try await Wire.connect(listening)
            for byte in "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello".utf8 {
                try await wire.send(bytes: [byte])
            }
            #expect(try await wire.response().body == "POST /a hello")
        }
    }

    @Test func `the answer to HEAD has a length and no content`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send("HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\nGET /d HTTP/1.1\r\nHost: h\r\n\r\n")
            let head = try await wire.response(toHead: true)
            #expect(head.headers["content-length"] == "11")
            #expect(head.body == "")
            #expect(try await wire.response().body == "GET /d -")
        }
    }

    @Test func `Expect gets 100 Continue unless the body is too large`() async throws {
        try await Listening.run { listening async throws in
            let wire = try await Wire.connect(listening)
            try await wire.send(
                "POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nExpect: 100-Continue\r\n\r\n")
            let interim = try await wire.response()
            #expect(interim.status == 100)
            #expect(interim.headers == [:])
            try await wire.send("0123456789")
            #expect(try await wire.response().body == "POST /small 0123456789")
            try await wire.send(
                "POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
            let refused = try await wire.response()
            #expect(refused.status == 413)
            #expect(refused.closes)
        }
    }

    @Test func `an HTTP 1.0 client gets no 100 Continue`() async throws {
        try await Listening.run { listening async throws in
            // RFC 9110, 10.1.1: in an HTTP/1.0 request, the expectation is ignored.
            let response = try await listening.first(
                "POST /a HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok")
            #expect(response.status == 200)
        }
    }

    @Test func `a listener on a Unix socket answers too, and takes the place of a socket left behind`() async throws {
        let path = "/tmp/assay-listener-test-\(UInt64.random(in: 0 ... .max)).sock"
        for _ in 0..<2 {
            try await Listening.run(at: .unixSocket(path: path)) { listening async throws in
                #expect(listening.listener.address == "unix:\(path)")
                #expect(try await listening.first("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").body == "GET /a -")
            }
        }
    }

    @Test func `an address in use is refused with a reason`() async throws {
        try await Listening.run { listening async throws in
            guard case .port(let port) = listening.target else { return }
            let error = await #expect(throws: ListenError.self) {
                try await Listening.run(at: .network(host: "127.0.0.1", port: port)) { _ in }
            }
            #expect(
                error?.description
                    == "can't listen on 127.0.0.1:\(port): the address is in use; stop the process that listens there, or choose another address"
            )
        }
    }
}
