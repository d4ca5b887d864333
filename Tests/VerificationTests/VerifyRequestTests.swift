import IDToken
import JOSE
import Testing
import TestSupport
@testable import Verification

@Suite struct VerifyRequestTests {
    private func read(_ json: String) throws -> VerifyRequest { try VerifyRequest(JSONObject(Array(json.utf8))) }

    /// A request with `id_token` and one other member.
    private func read(_ name: String, _ json: String) throws -> VerifyRequest {
        try read(#"{"id_token":"a.b.c","\#(name)":\#(json)}"#)
    }

    private func refuse(_ json: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let problem = #expect(throws: Problem.self, sourceLocation: sourceLocation) { try read(json) }
        guard case .requestInvalid(let text)? = problem else {
            Issue.record("\(String(describing: problem)) is no invalid request", sourceLocation: sourceLocation)
            return
        }
        expectSentence(text, sourceLocation: sourceLocation)
    }

    private static func quoted(_ count: Int, _ character: String = "x") -> String {
        "\"" + String(repeating: character, count: count) + "\""
    }

    @Test func `a token alone is a request`() throws {
        let request = try read(#"{"id_token":"a.b.c"}"#)
        #expect(text(request.idToken) == "a.b.c")
        #expect(request.provider == nil)
        #expect(request.parameters.nonce == nil)
        #expect(request.parameters.audience == nil)
        #expect(request.parameters.maximumAuthenticationAgeSeconds == nil)
        #expect(request.parameters.accessToken == nil)
        #expect(request.parameters.code == nil)
        #expect(request.parameters.clientName == nil)
        #expect(request.extras?.includesClaims == nil)
    }

    @Test func `every member is read, in any order`() throws {
        let request = try read(
            """
            { "include_claims": true, "user": {"name": {"firstName": "Kim", "lastName": "Bær"}, "email": "k@example.com"},
              "code": "c0de", "access_token": "t0ken", "max_age": 300, "audience": "web", "nonce": "n\\u006fnce",
              "provider": "apple", "id_token": "a.b.c" }
            """)
        #expect(text(request.idToken) == "a.b.c")
        #expect(request.provider == "apple")
        #expect(request.parameters.nonce == "nonce")
        #expect(request.parameters.audience == "web")
        #expect(request.parameters.maximumAuthenticationAgeSeconds == 300)
        #expect(request.parameters.accessToken == "t0ken")
        #expect(request.parameters.code == "c0de")
        #expect(request.parameters.clientName == ClientName(givenName: "Kim", familyName: "Bær"))
        #expect(request.extras?.includesClaims == true)
    }

    @Test(arguments: [
        "{}", #"{"provider":"apple"}"#, #"{"id_token":null}"#, #"{"id_token":5}"#, #"{"id_token":true}"#,
        #"{"id_token":["a.b.c"]}"#, #"{"id_token":{"payload":"a"}}"#,
    ])
    func `a request without a token as a string is refused`(json: String) {
        refuse(json)
    }

    @Test func `an empty token is a token, though a bad one`() throws {
        #expect(try read(#"{"id_token":""}"#).idToken.isEmpty)
    }

    @Test(arguments: [
        "nonse", "Nonce", "NONCE", "nonce ", " nonce", "nonce\\u0020", "n\\u00f3nce", "idToken", "id_Token", "maxAge",
        "max-age",
        "include-claims", "claims", "state", "", "access_Token", "user_name",
    ])
    func `an unknown member is rejected, because a misspelt one could switch a check off`(name: String) {
        refuse(#"{"id_token":"a.b.c","\#(name)":"x"}"#)
    }

    @Test func `an escaped name is the same name`() throws {
        #expect(try read("n\\u006fnce", "\"x\"").parameters.nonce == "x")
    }

    @Test(arguments: ["provider", "nonce", "audience", "access_token", "code"])
    func `a text must be one`(name: String) {
        for json in ["5", "true", "[]", "{}", "[\"x\"]", "\"\""] {
            refuse(#"{"id_token":"a.b.c","\#(name)":\#(json)}"#)
        }
    }

    @Test(arguments: [
        ("provider", 255), ("nonce", 512), ("audience", 1024), ("access_token", 49_152), ("code", 16_384),
    ])
    func `a text has one character to as many as there may be`(name: String, longest: Int) throws {
        _ = try read(name, Self.quoted(1))
        _ = try read(name, Self.quoted(longest))
        // The limit counts characters, not bytes.
        _ = try read(name, Self.quoted(longest, "\u{1f511}"))
        refuse(#"{"id_token":"a.b.c","\#(name)":\#(Self.quoted(longest + 1))}"#)
        refuse(#"{"id_token":"a.b.c","\#(name)":\#(Self.quoted(longest + 1, "\u{1f511}"))}"#)
    }

    @Test(arguments: [("0", 0), ("1", 1), ("300", 300), ("9223372036854775807", .max)] as [(String, Int64)])
    func `max_age is a number of seconds`(json: String, seconds: Int64) throws {
        #expect(try read("max_age", json).parameters.maximumAuthenticationAgeSeconds == seconds)
    }

    @Test(arguments: [
        "-1", "1.0", "1e3", "0.5", "\"300\"", "true", "[]", "{}", "9223372036854775808",
        "1000000000000000000000000",
    ])
    func `max_age is nothing else`(json: String) {
        refuse(#"{"id_token":"a.b.c","max_age":\#(json)}"#)
    }

    @Test(arguments: ["\"true\"", "1", "0", "[]", "{}", "\"\""])
    func `include_claims is true or false`(json: String) throws {
        refuse(#"{"id_token":"a.b.c","include_claims":\#(json)}"#)
        #expect(try read("include_claims", "false").extras?.includesClaims == nil)
        #expect(try read("include_claims", "true").extras?.includesClaims == true)
    }

    @Test func `an optional member that is null is absent`() throws {
        let request = try read(
            """
            {"id_token":"a.b.c","provider":null,"audience":null,"max_age":null,"access_token":null,"code":null,"user":null,
             "include_claims":null}
            """)
        #expect(request.provider == nil)
        let parameters = request.parameters
        #expect(parameters.audience == nil && parameters.accessToken == nil && parameters.code == nil)
        #expect(parameters.maximumAuthenticationAgeSeconds == nil && parameters.clientName == nil)
        #expect(request.extras?.includesClaims == nil)
    }

    @Test(arguments: ["nonce", "subject", "issuer"])
    func `what switches a check on must not be null`(member: String) {
        #expect(
            throws: Problem.requestInvalid(
                "\(member) must not be null, because that would skip its check; send a value, or omit it.")
        ) { try read(member, "null") }
    }

    @Test(arguments: ["null", "1.5", #""1700000000""#, "true", "[]"])
    func `authenticated_after is an integer`(json: String) {
        #expect(
            throws: Problem.requestInvalid("authenticated_after must be an integer, the Unix time in seconds.")
        ) { try read("authenticated_after", json) }
    }

    @Test func `an expected person is a subject, with or without an issuer`() throws {
        #expect(try read("subject", #""001.a""#).parameters.expectedSubject == ExpectedSubject(subject: "001.a"))
        let both = try read(#"{"id_token":"a.b.c","subject":"001.a","issuer":"https://op.example"}"#)
        #expect(both.parameters.expectedSubject == ExpectedSubject(subject: "001.a", issuer: "https://op.example"))
        #expect(
            throws: Problem.requestInvalid(
                "issuer is only valid together with subject, or with connection for a provider with issuers: any; send both, or neither."
            )
        ) { try read("issuer", #""https://op.example""#) }
        for text in ["", String(repeating: "a", count: 513)] {
            #expect(throws: Problem.self) { try read("subject", "\"\(text)\"") }
        }
    }

    @Test func `a subject needs its issuer if each tenant has its own`() throws {
        var policy = ProviderPolicy(id: "op", issuer: "https://op.example/{tid}", audiences: ["client"])
        let alone = try read("subject", #""a""#)
        #expect(throws: Problem.self) { try alone.check(against: policy) }
        policy.issuer = "https://op.example"
        #expect(throws: Never.self) { try alone.check(against: policy) }
    }

    // MARK: Unknown members

    private func detail(_ json: String) throws -> String? {
        let object = try JSONObject(Array(json.utf8))
        do throws(Problem) {
            _ = try VerifyRequest(object)
        } catch {
            if case .requestInvalid(let text) = error { return text }
        }
        return nil
    }

    @Test(arguments: ["nonse", "idToken", "nonce ", "id-token", "oauth2_token", "appleAuthorizationCode"])
    func `an unknown member is named`(name: String) throws {
        #expect(
            try detail(#"{"id_token":"a.b.c","\#(name)":"secret"}"#)
                == """
                The request has an unknown member "\(name)"; known members: id_token, provider, nonce, audience, max_age, \
                access_token, code, user, include_claims, subject, issuer, authenticated_after, connection, claim_values, \
                email_domains.
                """)
    }

    @Test func `an unknown member within user is named with its place`() throws {
        #expect(
            try detail(#"{"id_token":"a.b.c","user":{"phone":"x"}}"#)
                == #"The object user has an unknown member "phone"; known members: name, email."#)
        #expect(
            try detail(#"{"id_token":"a.b.c","user":{"name":{"middleName":"x"}}}"#)
                == #"The object user.name has an unknown member "middleName"; known members: firstName, lastName."#)
    }

    @Test(arguments: [
        ("eyJhbGciOiJSUzI1NiIsImtpZCI6IkV5M3RXVXJVckMifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQ", 78),
        ("kVJ0y3SpyPmNEXlXnTXTjQ", 22), ("kVJuySpyPmNEXlXnTXTjQ", 21), ("d1fa3e61e3ba85d7", 16),
        ("ada@example.com", 15),
        ("6f1c2d3e-0000-4000-8000-123456789abc", 36), ("001234.5e7fd0", 13), ("", 0), ("nonc\u{e9}", 6),
        ("a\u{1b}[31m", 6), ("nonce\n", 6), (String(repeating: "a", count: 33), 33), ("99999", 5),
    ])
    func `a name that may be a secret or is not printable is described by its length`(name: String, length: Int) throws
    {
        var json = JSONWriter()
        json.beginObject()
        json.member("id_token", "a.b.c")
        json.name(escaping: name)
        json.value("x")
        json.endObject()
        let text = try detail(String(decoding: json.bytes, as: UTF8.self))
        #expect(
            text?.contains("an unknown member with a name of \(length) bytes that is not shown;") == true,
            "\(text ?? "")")
        #expect(name.isEmpty || text?.contains(name) == false)
    }

    // MARK: Apple's user

    @Test(
        arguments: [
            ("{}", nil, nil),
            (#"{"email":"a@b.example"}"#, nil, nil),
            (#"{"name":{}}"#, nil, nil),
            (#"{"name":{"firstName":"Kim"}}"#, "Kim", nil),
            (#"{"name":{"lastName":"B"},"email":""}"#, nil, "B"),
            (#"{"name":{"firstName":"","lastName":""}}"#, nil, nil),
            (#"{"name":null,"email":null}"#, nil, nil),
            (#"{"name":{"firstName":null,"lastName":"B"}}"#, nil, "B"),
            (#"{"name":{"firstName":"Kim","lastName":null},"email":null}"#, "Kim", nil),
            (#"{"name":{"firstName":"K\u0069m","lastName":"😀"}}"#, "Kim", "😀"),
        ] as [(String, String?, String?)])
    func `a user is a name at most`(json: String, given: String?, family: String?) throws {
        #expect(try read("user", json).parameters.clientName == ClientName(givenName: given, familyName: family))
    }

    @Test(arguments: [
        "5", "[]", "\"Kim\"", "true", #"{"name":"Kim"}"#, #"{"name":[]}"#,
        #"{"email":5}"#, #"{"email":["a@b.example"]}"#, #"{"name":{"firstName":5}}"#,
        #"{"name":{"lastName":{}}}"#, #"{"sub":"x"}"#, #"{"name":{"middleName":"x"}}"#, #"{"Name":{}}"#,
        #"{"name":{"firstName":"a","FirstName":"b"}}"#, #"{"name":{"firstname":"a"}}"#,
    ])
    func `a user that is more or something else is refused`(json: String) {
        refuse(#"{"id_token":"a.b.c","user":\#(json)}"#)
    }

    @Test func `a user's texts have bounds`() throws {
        _ = try read(
            "user",
            #"{"name":{"firstName":\#(Self.quoted(255)),"lastName":\#(Self.quoted(255))},"email":\#(Self.quoted(320))}"#
        )
        for json in [
            #"{"name":{"firstName":\#(Self.quoted(256))}}"#, #"{"name":{"lastName":\#(Self.quoted(256))}}"#,
            #"{"email":\#(Self.quoted(321))}"#,
        ] {
            refuse(#"{"id_token":"a.b.c","user":\#(json)}"#)
        }
    }
}
