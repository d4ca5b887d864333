import Bytes
import IDToken
import JOSE
import OAuth
@testable import SignIns
import Testing
import Verification

/// Which client signs out, and where its browser goes.
@Suite struct SignOutTests {
    private static let back = "https://app.example/bye"

    private static func request(_ members: String = "") throws -> SignOutRequest {
        try SignOutRequest(try JSONObject(Array(#"{"provider": "oidc"\#(members)}"#.utf8)))
    }

    private static func client(_ id: String, _ uris: String...) -> OAuthClient {
        var client = OAuthClient(id: id)
        client.postLogoutRedirectURIs = uris
        return client
    }

    private static let policy = ProviderPolicy(id: "oidc", issuer: "https://op.example", audiences: ["a", "b", "c"])
    private static let rules = GrantRules(clients: [client("a", back), client("b", back, "app:/bye")], quirks: [])

    private static func chosen(_ members: String) throws -> String {
        try request(members).client(under: policy, rules).id
    }

    private static func json(
        _ members: String = "", at endpoint: String = "https://op.example/logout", hint: HintAnswer? = nil,
        state: String? = nil
    ) throws -> [String: JSONTree] {
        var json = JSONWriter()
        SignOut(try request(members), by: client("a"), at: endpoint, hint, state: state).write(to: &json)
        return try #require(JSONTree(readingObject: json.bytes).object)
    }

    @Test func `the audience's client, the one that lists the address, or the first`() throws {
        #expect(try Self.chosen("") == "a")
        #expect(try Self.chosen(#","audience":"b""#) == "b")
        #expect(try Self.chosen(#","post_logout_redirect_uri":"app:/bye""#) == "b")
        #expect(try Self.chosen(#","post_logout_redirect_uri":"\#(Self.back)""#) == "a")
        #expect(try Self.chosen(#","post_logout_redirect_uri":"\#(Self.back)","audience":"b""#) == "b")
    }

    @Test func `an address that the client does not list byte for byte is refused`() {
        for members in [
            #","post_logout_redirect_uri":"app:/bye","audience":"a""#, #","post_logout_redirect_uri":"app:/Bye""#,
            #","post_logout_redirect_uri":"\#(Self.back)/""#,
        ] {
            #expect(throws: Problem.postLogoutRedirectURINotConfigured) { try Self.chosen(members) }
        }
    }

    @Test func `an audience without a client, and a provider without any`() {
        #expect(throws: Problem.clientNotConfigured) { try Self.chosen(#","audience":"c""#) }
        #expect(throws: Problem.audienceNotConfigured) { try Self.chosen(#","audience":"d""#) }
        #expect(throws: Problem.clientNotConfigured) { try Self.request().client(under: Self.policy, nil) }
    }

    @Test func `the parameters are those of the URL`() throws {
        let members = #","post_logout_redirect_uri":"\#(Self.back)","logout_hint":"a&b","ui_locales":"de""#
        let answer = try Self.json(members, at: "https://op.example/logout?t=1", state: "s")
        #expect(
            answer["logout_url"]
                == .string(
                    "https://op.example/logout?t=1&logout_hint=a%26b&client_id=a&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fbye&state=s&ui_locales=de"
                ))
        #expect(
            answer["parameters"]
                == .object([
                    "logout_hint": .string("a&b"), "client_id": .string("a"), "state": .string("s"),
                    "post_logout_redirect_uri": .string(Self.back), "ui_locales": .string("de"),
                ]))
        #expect(answer["endpoint"] == .string("https://op.example/logout?t=1") && answer["state"] == .string("s"))
    }

    @Test func `a URL of 2000 characters is the longest`() throws {
        let base = "https://op.example/"
        let rest = 2000 - base.count - "?client_id=a".count
        let fits = base + String(repeating: "x", count: rest)
        #expect(try Self.json(at: fits)["logout_url"] == .string(fits + "?client_id=a"))
        #expect(try Self.json(at: fits + "x")["logout_url"] == .null)
        #expect(try Self.json(at: fits + "x")["parameters"] == .object(["client_id": .string("a")]))
    }

    @Test(arguments: ["state=x", "a=b&id_token_hint=x", "%73tate=", "client_id", "%zz=1"])
    func `an endpoint whose own query has our parameters is recognized`(query: String) {
        #expect(URLWithQuery.query(of: "https://op.example/logout?" + query, hasAnyOf: SignOut.reserved))
        #expect(!URLWithQuery.query(of: "https://op.example/logout?tenant=1", hasAnyOf: SignOut.reserved))
    }
}
