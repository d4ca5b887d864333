import IDToken
import JOSE
import Testing
import TestSupport
@testable import Verification

@Suite struct AccessTokenRequestTests {
    private func request(_ text: String) throws -> AccessTokenRequest {
        try AccessTokenRequest(JSONObject(Array(text.utf8), allowsNUL: true), nil, for: [])
    }

    /// A request with a token and one other member.
    private func request(_ name: String, _ json: String) throws -> AccessTokenRequest {
        try request(#"{"token":"a.b.c","\#(name)":\#(json)}"#)
    }

    @Test func `a token alone is a request`() throws {
        let request = try request(#"{"token":"a.b.c","provider":null,"audience":null,"include_claims":null}"#)
        #expect(request.token.map(text) == "a.b.c")
        #expect(request.provider == nil)
        #expect(request.parameters.audience == nil)
        #expect(request.parameters.expectedSubject == nil)
        #expect(request.parameters.authenticatedAfter == nil)
        #expect(request.parameters.scopes.isEmpty)
        #expect(!request.includesClaims)
    }

    @Test func `every member is read`() throws {
        let request = try request(
            """
            {"token": "a.b.c", "provider": "api", "audience": "https://api.example/", "subject": "user",
             "issuer": "https://op.example", "authenticated_after": 1700000000, "scopes": ["orders:read", "a"],
             "include_claims": true}
            """)
        #expect(request.provider == "api")
        #expect(request.parameters.audience == "https://api.example/")
        #expect(request.parameters.expectedSubject?.subject == "user")
        #expect(request.parameters.expectedSubject?.issuer == "https://op.example")
        #expect(request.parameters.authenticatedAfter?.seconds == 1_700_000_000)
        #expect(request.parameters.scopes == ["orders:read", "a"])
        #expect(request.includesClaims)
    }

    @Test(arguments: ["{}", #"{"token":1}"#, #"{"token":null}"#, #"{"provider":"api"}"#, #"{"payload":"a.b.c"}"#])
    func `a request without a token as a string is refused`(text: String) {
        refuse { try request(text) }
    }

    @Test(arguments: [
        ("scopes", "null"), ("scopes", #""orders""#), ("scopes", "[1]"), ("scopes", #"[""]"#), ("scopes", #"["a b"]"#),
        ("scopes", #"["é"]"#), ("subject", "null"), ("subject", #""""#), ("issuer", #""https://a.example""#),
        ("authenticated_after", "null"), ("nonce", #""n""#), ("id_token", #""a""#), ("max_age", "5"),
        ("include_claims", "1"), ("provider", #""""#), ("audience", "5"),
    ])
    func `a member of another form is refused`(name: String, json: String) {
        refuse { try request(name, json) }
    }

    @Test func `a resource takes the place of provider and audience, and the token may be missing`() throws {
        let request = try request(#"{"token":null,"resource":"mcp","provider":null,"scopes":["a"]}"#)
        #expect(request.resource == "mcp")
        #expect(request.token == nil)
        #expect(try self.request(#"{"token":"t","resource":"mcp"}"#).token.map(text) == "t")
        for members in [
            #"{"resource":"mcp"}"#, #"{"token":1,"resource":"mcp"}"#, #"{"token":"t","resource":null}"#,
            #"{"token":"t","resource":""}"#, #"{"token":"t","resource":"mcp","provider":"p"}"#,
            #"{"token":"t","resource":"mcp","audience":"a"}"#,
        ] {
            refuse { try self.request(members) }
        }
    }

    @Test func `there are at most 64 scopes`() throws {
        func scopes(_ count: Int) -> String { json(.array(Array(repeating: .string("a"), count: count))) }
        #expect(try request("scopes", "[]").parameters.scopes.isEmpty)
        #expect(try request("scopes", scopes(64)).parameters.scopes.count == 64)
        refuse { try request("scopes", scopes(65)) }
    }

    private func refuse(_ read: () throws -> AccessTokenRequest, sourceLocation: SourceLocation = #_sourceLocation) {
        let problem = #expect(throws: Problem.self, sourceLocation: sourceLocation) { _ = try read() }
        guard case .requestInvalid(let detail)? = problem else {
            Issue.record("\(String(describing: problem)) is no invalid request", sourceLocation: sourceLocation)
            return
        }
        #expect(detail.hasSuffix("."))
    }
}
