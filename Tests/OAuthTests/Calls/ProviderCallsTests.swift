import HTTP
import Keys
import NIOCore
import NIOPosix
import OAuth
import OpenSSL
import Testing
import TestSupport

@Suite struct ProviderCallsTests {
    @Test func `a refresh token is redeemed`() async throws {
        let secret = try SecretBytes("s3".utf8.span)
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response(EndpointServer.grant) }) {
            server, address async throws in
            let caller = Caller(.secret(secret, sentIn: .basic))
            let called = try await caller.refresh(at: address)
            let grant = try called.result.get()
            #expect(grant.tokenType == "Bearer")
            #expect(server.requests.count == 1)
            #expect(try #require(server.requests.first).body == "grant_type=refresh_token&refresh_token=r")
            #expect(
                try #require(server.requests.first).head.split(separator: "\r\n") == [
                    "POST /token HTTP/1.1", "Host: \(address.authority)", "Accept: application/json",
                    "User-Agent: assay",
                    "Content-Type: application/x-www-form-urlencoded", "Content-Length: 40",
                    "Authorization: Basic Y2xpZW50OnMz",
                ])
            let report = try #require(called.reports.first)
            #expect(report.outcome == .ok)
            #expect(report.connection == .opened)
            #expect(report.status == 200)
            #expect(caller.reports.all.count == 1)
            try await eventually { caller.slots.inFlight == 0 }
        }
    }

    @Test func `a connection is used again`() async throws {
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response(EndpointServer.grant) }) {
            server, address async throws in
            let caller = Caller()
            for _ in 0..<3 { _ = try await caller.refresh(at: address).result.get() }
            #expect(server.connections == 1)
            #expect(caller.reports.all.map(\.connection) == [.opened, .reused, .reused])
            caller.calls.stop()
            _ = try await caller.refresh(at: address).result.get()
            _ = try await caller.refresh(at: address).result.get()
            #expect(server.connections == 3)
        }
    }

    /// Each of these leaves a connection that can't be used again.
    @Test(arguments: [
        EndpointServer.response(EndpointServer.grant, ["Connection: close"]),
        .bytesAndClose(EndpointServer.text(EndpointServer.grant)),
        .bytesAndClose("HTTP/1.1 200 OK\r\n\r\n" + EndpointServer.grant),
        .bytes("HTTP/1.0 200 OK\r\nContent-Length: 60\r\n\r\n" + EndpointServer.grant),
        .bytes(EndpointServer.text(EndpointServer.grant) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        .bytes(EndpointServer.text(EndpointServer.grant) + "junk"),
        .bytes(EndpointServer.text(EndpointServer.grant) + "\r\n"),
        .bytes(EndpointServer.text(EndpointServer.grant) + "HTTP/1.1 200 OK\r\nX-Late: "),
        .bytes(EndpointServer.chunked(EndpointServer.grant) + "H"),
    ])
    func `a connection that the server ends, or has more to say on, is not`(answer: EndpointServer.Answer) async throws
    {
        try await EndpointServer.run(answering: { _, _ in answer }) { server, address async throws in
            let caller = Caller()
            for count in 1...2 {
                let called = try await caller.refresh(at: address)
                #expect(called.failure == nil)
                #expect(called.reports[0].connection == .opened)
                #expect(server.requests.count == count)
                if case .bytesAndClose = answer { try await server.lastConnectionClosed() }
            }
        }
    }

    @Test func `a kept connection that the server closes meanwhile is not written to`() async throws {
        try await EndpointServer.run(answering: { _, count in
            count == 1 ? EndpointServer.response(EndpointServer.grant) : .bytesAndClose(EndpointServer.text("{}"))
        }) { server, address async throws in
            let caller = Caller()
            _ = try await caller.refresh(at: address).result.get()
            // On the connection that was kept; the server then closes it.
            #expect(try await caller.refresh(at: address).reports[0].connection == .reused)
            try await server.lastConnectionClosed()
            #expect(try await caller.refresh(at: address).reports[0].connection == .opened)
            #expect(server.requests.count == 3)
        }
    }

    /// The decoder would keep such a beginning without a sign, and take what follows for the rest of it.
    @Test func `the beginning of a late response is not read as that of the next`() async throws {
        let late = EndpointServer.text(#"{"access_token":"another user's","token_type":"Bearer"}"#)
        try await EndpointServer.run(answering: { _, count in
            .bytes((count == 2 ? String(late.dropFirst(20)) : "") + EndpointServer.text(EndpointServer.grant))
        }) { server, address async throws in
            let caller = Caller()
            _ = try await caller.refresh(at: address).result.get()
            server.onLastConnection { $0.writeAndFlush(ByteBuffer(string: String(late.prefix(20))), promise: nil) }
            // The client's event loop reads what has arrived between two of its turns.
            for _ in 0..<3 { try await caller.calls.loop.submit {}.get() }
            let called = try await caller.refresh(at: address)
            #expect(called.reports.map(\.connection) == [.opened])
            #expect(server.connections == 2)
        }
    }

    /// The event loop that sends is busy while it happens, so only the socket can tell.
    @Test(
        arguments: [
            { (channel: any Channel) in channel.close(promise: nil) },
            { (channel: any Channel) in channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 408 No\r\n"), promise: nil)
            },
        ] as [@Sendable (any Channel) -> Void])
    func `a kept connection that the server ends at this moment is not written to`(
        act: @escaping @Sendable (any Channel) -> Void
    ) async throws {
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response(EndpointServer.grant) }) {
            server, address async throws in
            let caller = Caller()
            _ = try await caller.refresh(at: address).result.get()
            let slot = try #require(caller.slots.reserve())
            let token = try #require(RefreshToken("r2"))
            let called = try await caller.calls.loop.flatSubmit {
                server.onLastConnection(act)
                return caller.calls.exchange(
                    .refresh(token, scopes: []), by: .configured(Caller.clientID), at: address, slot, until: Caller.soon
                )
            }.get()
            #expect(called.failure == nil)
            #expect(called.reports.map(\.connection) == [.opened])
            #expect(server.requests.map(\.body).count { $0.contains("r2") } == 1)
            #expect(server.connections == 2)
        }
    }

    // MARK: Failures

    @Test func `what fails before sending is not sent, and says so`() async throws {
        let caller = Caller { $0.allowPrivateAddresses = false }
        let address = try FetchURL("http://127.0.0.1:1/token", allowingHTTP: true)
        #expect(try await caller.refresh(at: address).failure == .notSent(.unreachable))
        let open = Caller()
        let called = try await open.refresh(at: address)
        #expect(called.failure == .notSent(.unreachable))
        #expect(called.reports[0].connection == .failed)
        #expect(called.reports[0].reason?.contains("refused") == true)
        try await EndpointServer.run(answering: { _, _ in .silence }) { server, address async throws in
            #expect(try await open.refresh(at: address, by: "another").failure == .notSent(.credential))
            let past = SystemClocks.monotonic() - .seconds(1)
            #expect(try await open.refresh(at: address, until: past).failure == .notSent(.timeout))
            #expect(server.requests.isEmpty)
        }
        try await eventually { open.slots.inFlight == 0 }
    }

    @Test(arguments: [
        (EndpointServer.Answer.bytesAndClose(""), CallFailure.unavailable(.broken)),
        (.bytesAndClose("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .unavailable(.broken)),
        (.bytesAndClose("SSH-2.0-a\r\n"), .answerInvalid(.notHTTP)),
        (
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n" + String(repeating: " ", count: 65537)),
            .answerInvalid(.tooLarge)
        ),
        (EndpointServer.response("{}", status: "302 Found", ["Location: /"]), .answerInvalid(.redirect)),
        (EndpointServer.response("{}", ["Content-Encoding: gzip"]), .answerInvalid(.contentCoding)),
        (
            EndpointServer.response("{}", status: "503 No", ["Retry-After: 7"]),
            .unavailable(.status(503), retryAfterSeconds: 7)
        ),
        (EndpointServer.response(#"{"error":"invalid_request"}"#, status: "400 No"), .grantInvalid(.invalidRequest)),
    ])
    func `an answer that is no grant`(answer: EndpointServer.Answer, failure: CallFailure) async throws {
        try await EndpointServer.run(answering: { _, _ in answer }) { server, address async throws in
            let caller = Caller()
            let called = try await caller.refresh(at: address)
            #expect(called.failure == failure)
            #expect(server.requests.count == 1)
            try await eventually { caller.slots.inFlight == 0 }
        }
    }

    @Test func `a server that says nothing costs the time of the call`() async throws {
        try await EndpointServer.run(answering: { _, _ in .silence }) { server, address async throws in
            let caller = Caller()
            let deadline = SystemClocks.monotonic() + Interval(milliseconds: 200)
            let called = try await caller.refresh(at: address, until: deadline)
            // On a slow machine the time may be over before the connection is open.
            #expect(called.failure == .unavailable(.timeout) || called.failure == .notSent(.timeout))
            #expect(called.reports[0].outcome == .timeout)
        }
    }

    // MARK: Revoking

    @Test func `revoking is tried three times while the provider does not answer`() async throws {
        try await EndpointServer.run(answering: { _, count in
            count == 3 ? EndpointServer.response("") : .bytesAndClose("")
        }) { server, address async throws in
            let called = try await Caller().revoke(at: address)
            #expect(called.failure == nil)
            #expect(called.reports.map(\.outcome) == [.unavailable, .unavailable, .ok])
            #expect(server.requests.map(\.body) == Array(repeating: "token=t&client_id=client", count: 3))
        }
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response("", status: "500 No") }) {
            server, address async throws in
            #expect(try await Caller().revoke(at: address).failure == .unavailable(.status(500)))
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a refusal is not tried again, and neither is anything after the deadline`() async throws {
        try await EndpointServer.run(answering: { _, _ in
            EndpointServer.response(#"{"error":"invalid_client"}"#, status: "401 No")
        }) { server, address async throws in
            #expect(try await Caller().revoke(at: address).failure == .clientRejected(.invalidClient))
            #expect(server.requests.count == 1)
        }
        try await EndpointServer.run(answering: { _, _ in .bytesAndClose("") }) { server, address async throws in
            let deadline = SystemClocks.monotonic() + Interval(milliseconds: 60)
            _ = try await Caller().revoke(at: address, until: deadline)
            #expect(server.requests.count <= 1)
        }
    }

    @Test func `user info is asked for with the access token`() async throws {
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response(#"{"sub":"1"}"#) }) {
            server, address async throws in
            let caller = Caller()
            let request = UserInfoRequest(try #require(AccessToken("a")))
            let slot = try #require(caller.slots.reserve())
            let called = try await caller.calls.userInfo(
                request, of: "1", by: .configured(Caller.clientID), at: address, slot, until: Caller.soon
            ).get()
            #expect(try called.result.get() == .claims(Array(#"{"sub":"1"}"#.utf8)))
            #expect(try #require(server.requests.first).head.hasPrefix("GET /token HTTP/1.1\r\n"))
            #expect(try #require(server.requests.first).head.contains("\r\nAuthorization: Bearer a"))
        }
    }

    @Test func `another credential counts from the next call on`() async throws {
        try await EndpointServer.run(answering: { _, _ in EndpointServer.response(EndpointServer.grant) }) {
            server, address async throws in
            let caller = Caller()
            _ = try await caller.refresh(at: address)
            caller.calls.change(.secret(try SecretBytes("new".utf8.span), sentIn: .post), ofClient: Caller.clientID)
            _ = try await caller.refresh(at: address)
            #expect(try #require(server.requests.first).body.contains("client_secret") == false)
            #expect(try #require(server.requests.last).body.hasSuffix("&client_secret=new"))
        }
    }
}
