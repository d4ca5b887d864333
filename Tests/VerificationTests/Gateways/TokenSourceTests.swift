import Bytes
import Testing
@testable import Verification

@Suite struct TokenSourceTests {
    /// The header fields of a request, in order.
    struct Fields: RequestFields {
        let lines: [String]

        func values(named name: String) -> [ArraySlice<UInt8>] {
            let prefix = name.lowercased() + ": "
            return lines.filter { $0.lowercased().hasPrefix(prefix) }.map {
                Array($0.utf8.dropFirst(prefix.count))[...]
            }
        }
    }

    private static let session: [TokenSource] = [.bearer, .cookie("session")]

    /// What a policy with these sources finds: the token, or the denial's challenge.
    private func found(_ sources: [TokenSource], _ lines: [String]) -> String {
        let policy = ForwardAuthPolicy(id: "p", providers: [], sources: sources)
        do throws(Denial) {
            return String(decoding: try policy.token(in: Fields(lines: lines)).text, as: UTF8.self)
        } catch {
            return error.challenge(ChallengeSchemes()) ?? ""
        }
    }

    private static let none = "Bearer"
    private static let unreadable = #"Bearer error="invalid_request""#

    /// Header lines, and what is found in them.
    private static let bearers: [(lines: [String], expected: String)] = [
        (["Authorization: Bearer a.b.c"], "a.b.c"), (["authorization: bEARER   a"], "a"),
        (["Authorization: Bearer aZ0-._~+/="], "aZ0-._~+/="),
        ([], none), (["Authorization: Basic a"], none), (["Authorization: Bearera"], none),
        (["Authorization: Beare a"], none), (["Authorization: "], none), (["X-Authorization: Bearer a"], none),
        (["Authorization: Bearer\ta"], unreadable), (["Authorization: Basic\ta"], none),
        (["Authorization: Bearer"], unreadable), (["Authorization: Bearer "], unreadable),
        (["Authorization: Bearer a", "Authorization: Bearer a"], unreadable),
        (["Authorization: Basic x", "AUTHORIZATION: Bearer a"], unreadable),
        (["Authorization: Bearer a, Bearer b"], unreadable), (["Authorization: Bearer a b"], unreadable),
        (["Authorization: Bearer a,b"], unreadable), (["Authorization: Bearer \"a\""], unreadable),
        (["Authorization: Bearer café"], unreadable), (["Authorization: Bearer a\tb"], unreadable),
    ]

    @Test func `a bearer token is one word after the scheme`() {
        for (lines, expected) in Self.bearers { #expect(found([.bearer], lines) == expected, "\(lines)") }
    }

    /// Values of `Cookie`, and what is found in them.
    private static let cookies: [(values: [String], expected: String)] = [
        (["session=a"], "a"), (["x=y; session=a"], "a"), (["x=y;session=a ; z=w"], "a"), (["x=y", "session=a"], "a"),
        (["\tsession=a"], "a"), (["session=\"a\""], "a"), (["x=session=b; session=a"], "a"), (["session=a="], "a="),
        (["Session=x; session=a"], "a"), (["xsession=x; session=a"], "a"), (["session; session=a"], "a"),
        (["Session=a"], none), (["session"], none), (["xsession=a"], none), ([""], none),
        (["x=session=a"], none), ([";;=;"], none),
        (["session =a"], "a"), (["session\t=a; session=b"], unreadable),
        (["session=a; session=a"], unreadable), (["session=a", "session=b"], unreadable), (["session="], unreadable),
        (["session=\"\""], unreadable), (["session=\"a"], unreadable), (["session=a b"], unreadable),
        (["session=a,b"], unreadable), (["session=café"], unreadable), (["session=%61"], unreadable),
    ]

    @Test func `a cookie is found by its name, once`() {
        for (values, expected) in Self.cookies {
            #expect(found([.cookie("session")], values.map { "Cookie: \($0)" }) == expected, "\(values)")
        }
    }

    @Test func `the first source that is there counts, good or bad`() {
        let (header, cookie) = ("Authorization: Bearer a", "Cookie: session=b")
        #expect(found(Self.session, [cookie, header]) == "a")
        #expect(found(Self.session.reversed(), [header, cookie]) == "b")
        #expect(found(Self.session, [cookie]) == "b")
        #expect(found(Self.session, ["Authorization: Basic a", cookie]) == "b")
        #expect(found(Self.session, ["Authorization: Bearer ", cookie]) == Self.unreadable)
        #expect(found(Self.session, [header, "Cookie: session=é"]) == "a")
        #expect(found(Self.session, ["Cookie: other=b"]) == Self.none)
    }

    @Test func `a header without a scheme holds the token alone`() {
        let sources = [TokenSource.header("X-Assertion", scheme: nil)]
        #expect(found(sources, ["x-assertion: a.b=.c"]) == "a.b=.c")
        #expect(found(sources, ["X-Assertion: Bearer a"]) == Self.unreadable)
        #expect(found(sources, ["X-Assertion: "]) == Self.unreadable)
        #expect(found(sources, ["Authorization: Bearer a"]) == Self.none)
    }

    // MARK: Proofs

    @Test func `the scheme DPoP counts where proofs are taken`() throws {
        var policy = ForwardAuthPolicy(id: "p", providers: [])
        let fields = Fields(lines: ["Authorization: dpop a"])
        #expect(throws: Denial.tokenMissing) { try policy.token(in: fields) }
        policy.requestURL = RequestURL(origin: "https://a.example", method: .request, path: .request)
        let token = try policy.token(in: fields)
        #expect(token.text.elementsEqual("a".utf8))
        #expect(token.isUnderProofScheme)
        #expect(try !policy.token(in: Fields(lines: ["Authorization: Bearer a"])).isUnderProofScheme)
        #expect(throws: Denial.tokenUnreadable) { try policy.token(in: Fields(lines: ["Authorization: DPoP a b"])) }
        policy.sources = [.header("X-Token", scheme: "Bearer")]
        #expect(throws: Denial.tokenMissing) { try policy.token(in: Fields(lines: ["X-Token: DPoP a"])) }
    }

    // MARK: Chunked cookies

    /// Values of `Cookie`, and what is found in them.
    private static let chunks: [(values: [String], expected: String)] = [
        (["session.0=a; session.1=b"], "ab"), (["session_0=a; session_1=b"], "ab"), (["session.0=a"], "a"),
        (["session.1=b; x=y", "session.0=a"], "ab"), (["session=a"], "a"), (["session=a; session.id=b"], "a"),
        (["session.0=a; session.00=b; session.x=c; session.=d; session.+1=e"], "a"),
        ((0..<8).map { "session.\($0)=\($0)" }, "01234567"),
        ((0..<9).map { "session.\($0)=\($0)" }, unreadable),
        (["session.0=a; session.123456789012345678901=b"], unreadable),
        (["session.1=b"], unreadable), (["session.0=a; session.2=c"], unreadable),
        (["session.0=a; session.0=a"], unreadable), (["session.0=a; session_1=b"], unreadable),
        (["session=a; session.0=a"], unreadable), (["session=a; session_0=a"], unreadable),
        (["session.0=a; session.1="], "a"), (["session.0="], unreadable), (["session.0=a b"], unreadable),
        (["Session.0=a"], none), (["x=session.0"], none),
    ]

    @Test func `a token may be divided among cookies`() {
        for (values, expected) in Self.chunks {
            let lines = values.map { "Cookie: " + $0 }
            #expect(found([.cookie("session", isChunked: true)], lines) == expected, "\(values)")
        }
        #expect(found([.cookie("session")], ["Cookie: session.0=a"]) == Self.none)
    }

    // MARK: WebSockets

    private static let webSocket: [TokenSource] = [.webSocketProtocol(origins: ["https://app.example.com"])]
    private static let handshake = ["Upgrade: websocket", "Origin: https://app.example.com"]
    private static let kubernetes = "base64url.bearer.authorization.k8s.io.YS5i"

    /// Values of `Sec-WebSocket-Protocol`, the token, and the list for the backend.
    private static let protocols: [(values: [String], expected: String, others: String)] = [
        (["bearer, a.b"], "a.b", "bearer"), (["graphql-ws,bearer,a.b"], "a.b", "graphql-ws, bearer"),
        (["bearer, a.b, chat"], "a.b", "bearer, chat"), (["chat", "bearer, a.b"], "a.b", "chat, bearer"),
        (["bearer", "a.b"], "a.b", "bearer"), (["\(kubernetes), v4.channel.k8s.io"], "a.b", "v4.channel.k8s.io"),
        (["v4, \(kubernetes)", "v5"], "a.b", "v4, v5"), (["bearer,,a.b,"], "a.b", "bearer"),
        ([kubernetes], unreadable, ""), (["bearer"], unreadable, ""), (["chat, bearer"], unreadable, ""),
        (["bearer, a, bearer, b"], unreadable, ""), (["bearer, a, \(kubernetes)"], unreadable, ""),
        (["\(kubernetes), \(kubernetes), v4"], unreadable, ""), (["\(kubernetes)=, v4"], unreadable, ""),
        (["base64url.bearer.authorization.k8s.io., v4"], unreadable, ""), (["bearer, a\"b"], unreadable, ""),
        (["chat, caf\u{e9}, bearer, a"], unreadable, ""),
        (["ch at, bearer, a"], unreadable, ""), (["chat"], none, ""), ([], none, ""), (["Bearer, a"], none, ""),
    ]

    @Test func `a WebSocket's handshake may have the token in its list of protocols`() throws {
        let policy = ForwardAuthPolicy(id: "p", providers: [], sources: Self.webSocket)
        for (values, expected, others) in Self.protocols {
            let lines = Self.handshake + values.map { "Sec-WebSocket-Protocol: " + $0 }
            #expect(found(Self.webSocket, lines) == expected, "\(values)")
            guard !others.isEmpty else { continue }
            #expect(try policy.token(in: Fields(lines: lines)).webSocketProtocols == others)
        }
    }

    @Test func `only handshakes for pages of these origins count`() throws {
        let token = ["Sec-WebSocket-Protocol: bearer, a"]
        for lines in [
            ["Origin: https://app.example.com"], ["Upgrade: websocket"],
            ["Upgrade: h2c", "Origin: https://app.example.com"],
            ["Upgrade: websocket", "Origin: https://APP.example.com"], ["Upgrade: websocket", "Origin: null"],
            ["Upgrade: websocket", "Origin: https://app.example.com.evil.example"],
            Self.handshake + ["Origin: https://app.example.com"], Self.handshake + ["Upgrade: websocket"],
        ] { #expect(found(Self.webSocket, lines + token) == Self.none, "\(lines)") }
        #expect(found(Self.webSocket, ["UPGRADE: WebSocket", "Origin: https://app.example.com"] + token) == "a")
        // The backend never sees a token in the list, wherever the one that counts is.
        let policy = ForwardAuthPolicy(id: "p", providers: [], sources: [.bearer] + Self.webSocket)
        let found = try policy.token(
            in: Fields(lines: [
                "Upgrade: websocket", "Authorization: Bearer b", "Sec-WebSocket-Protocol: chat, bearer, a",
            ]))
        #expect(found.text.elementsEqual("b".utf8))
        #expect(found.webSocketProtocols == "chat, bearer")
        #expect(try policy.token(in: Fields(lines: ["Authorization: Bearer b"])).webSocketProtocols == nil)
    }
}
