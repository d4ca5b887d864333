import Bytes
import Testing
import Verification

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
            return String(decoding: try policy.token(in: Fields(lines: lines)), as: UTF8.self)
        } catch {
            return error.challenge ?? ""
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
}
