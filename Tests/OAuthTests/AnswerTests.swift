import IDToken
import JOSE
import OAuth
import Testing
import TestSupport

@Suite struct AnswerTests {
    private static let now = UnixTime(seconds: 1_700_000_000)

    private static func answer(
        _ body: String, _ status: UInt = 200, retryAfter: String? = nil, hasContentCoding: Bool = false
    ) -> EndpointAnswer {
        EndpointAnswer(
            status: status, retryAfter: retryAfter, hasContentCoding: hasContentCoding, body: Array(body.utf8))
    }

    private func json(_ answer: EndpointAnswer) throws(CallFailure) -> String {
        let grant = try answer.grant([], now: Self.now)
        var json = JSONWriter()
        json.beginObject()
        grant.writeMembers(to: &json)
        json.endObject()
        return text(json.bytes)
    }

    private func failure(_ answer: EndpointAnswer, _ quirks: Set<ProviderQuirk> = []) -> CallFailure? {
        do throws(CallFailure) {
            _ = try answer.grant(quirks, now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Pushed authorization requests

    @Test(arguments: [UInt(200), 201])
    func `a reference to a request`(status: UInt) throws {
        let body = #"{"request_uri":"urn:a","expires_in":90,"more":1}"#
        #expect(try Self.answer(body, status).pushed().uri == "urn:a")
    }

    @Test(
        arguments: [
            (#"{"expires_in":90}"#, 201, CallFailure.answerInvalid(.member(.requestURI))),
            (#"{"request_uri":7,"expires_in":90}"#, 201, .answerInvalid(.member(.requestURI))),
            (#"{"request_uri":"a b","expires_in":90}"#, 201, .answerInvalid(.member(.requestURI))),
            (#"{"request_uri":"a"}"#, 201, .answerInvalid(.member(.expiresIn))),
            (#"{"request_uri":"a","expires_in":0}"#, 201, .answerInvalid(.member(.expiresIn))),
            (#"{"request_uri":"a","expires_in":90}"#, 202, .answerInvalid(.status(202))),
            (#"{"error":"invalid_grant"}"#, 400, .refused(.invalidGrant)),
            (#"{"error":"invalid_client"}"#, 401, .clientRejected(.invalidClient)),
            (#"{"error":"invalid_request_object"}"#, 400, .refused(.invalidRequestObject)),
            ("{}", 503, .unavailable(.status(503))),
        ] as [(String, UInt, CallFailure)])
    func `a request that was not taken`(body: String, status: UInt, expected: CallFailure) {
        #expect(throws: expected) { try Self.answer(body, status).pushed() }
    }

    @Test func `a whole grant`() throws {
        let body = """
            {"access_token":"a.b","token_type":"bearer","expires_in":3600,"refresh_token":"r/1","scope":"openid email",\
            "id_token":"x.y.z","another":{"b":1}}
            """
        #expect(
            try json(Self.answer(body)) == """
                {"access_token":"a.b","token_type":"bearer","expires_at":1700003600,"refresh_token":"r/1",\
                "scopes":["openid","email"],"id_token":"x.y.z"}
                """)
    }

    @Test(arguments: [
        #"{"access_token":"a","token_type":"Bearer"}"#,
        #"{"access_token":"a","token_type":"Bearer","refresh_token":null,"id_token":"","scope":null,"error":null}"#,
        #"{"access_token":"a","token_type":"Bearer","error":""}"#,
    ])
    func `what the provider does not say is null`(body: String) throws {
        #expect(
            try json(Self.answer(body)) == """
                {"access_token":"a","token_type":"Bearer","expires_at":null,"refresh_token":null,"scopes":null,"id_token":null}
                """)
    }

    @Test(arguments: [
        ("0", Int64(0)), ("3600", 3600), (#""3600""#, 3600), ("2147483647", 2_147_483_647), ("2147483648", nil),
        ("-1", nil), ("100000000000000000000", nil), (#""""#, nil), (#""-1""#, nil), (#""1h""#, nil), ("3600.5", nil),
        ("null", nil), ("true", nil), ("[]", nil), (#""99999999999999999999""#, nil),
    ])
    func `an unusable lifetime is no reason to lose a grant`(value: String, seconds: Int64?) throws {
        let answer = Self.answer(#"{"access_token":"a","token_type":"Bearer","expires_in":\#(value)}"#)
        let grant = try answer.grant([], now: Self.now)
        #expect(grant.expiresAt?.seconds == seconds.map { 1_700_000_000 + $0 })
    }

    @Test(arguments: [
        ("", CallFailure.answerInvalid(.notJSON)),
        ("<html>", .answerInvalid(.notJSON)),
        ("[]", .answerInvalid(.notJSON)),
        ("access_token=a&token_type=bearer", .answerInvalid(.notJSON)),
        (#"{"access_token":"a","access_token":"a","token_type":"b"}"#, .answerInvalid(.notJSON)),
        ("{}", .answerInvalid(.member(.accessToken))),
        (#"{"token_type":"b"}"#, .answerInvalid(.member(.accessToken))),
        (#"{"access_token":"","token_type":"b"}"#, .answerInvalid(.member(.accessToken))),
        (#"{"access_token":1,"token_type":"b"}"#, .answerInvalid(.member(.accessToken))),
        (#"{"access_token":"é","token_type":"b"}"#, .answerInvalid(.member(.accessToken))),
        (#"{"access_token":"a"}"#, .answerInvalid(.member(.tokenType))),
        (#"{"access_token":"a","token_type":["b"]}"#, .answerInvalid(.member(.tokenType))),
        (#"{"access_token":"a\nb","token_type":"b"}"#, .answerInvalid(.member(.accessToken))),
        (#"{"access_token":"a","token_type":"b","refresh_token":"\u007f"}"#, .answerInvalid(.member(.refreshToken))),
        (#"{"access_token":"a","token_type":"b","id_token":"a\r\nb"}"#, .answerInvalid(.member(.idToken))),
        (#"{"access_token":"a","token_type":"b","scope":"a\tb"}"#, .answerInvalid(.member(.scope))),
        (#"{"access_token":"a","token_type":"b","scope":"a \"b"}"#, .answerInvalid(.member(.scope))),
        (#"{"access_token":"a","token_type":"b","refresh_token":1}"#, .answerInvalid(.member(.refreshToken))),
        (#"{"access_token":"a","token_type":"b","id_token":{}}"#, .answerInvalid(.member(.idToken))),
        (#"{"access_token":"a","token_type":"b","scope":["a"]}"#, .answerInvalid(.member(.scope))),
        (#"{"error":"invalid_grant"}"#, .grantInvalid(.invalidGrant)),
        (
            #"{"error":"invalid_grant","access_token":"a","token_type":"b"}"#,
            .grantInvalid(.invalidGrant, isIssued: true)
        ),
        (#"{"error":"invalid_grant","refresh_token":"a"}"#, .grantInvalid(.invalidGrant, isIssued: true)),
        (#"{"error":"invalid_grant","id_token":"a"}"#, .grantInvalid(.invalidGrant, isIssued: true)),
        (#"{"error":"invalid_grant","access_token":""}"#, .grantInvalid(.invalidGrant)),
        (#"{"error":"invalid_client"}"#, .clientRejected(.invalidClient)),
        (#"{"error":"unauthorized_client"}"#, .clientRejected(.unauthorizedClient)),
        (#"{"error":"invalid_scope"}"#, .refused(.invalidScope)),
        (#"{"error":"invalid_request"}"#, .refused(.invalidRequest)),
        (#"{"error":"bad_verification_code"}"#, .refused(.other)),
        (#"{"ok":false,"error":"code_already_used"}"#, .refused(.other)),
        (#"{"error":{"code":1}}"#, .refused(.other)),
        (#"{"error":1}"#, .refused(.other)),
    ])
    func `answers with status 200`(body: String, expected: CallFailure) {
        #expect(failure(Self.answer(body)) == expected)
    }

    @Test(arguments: OAuthErrorName.allCases)
    func `every registered error is named`(name: OAuthErrorName) {
        let found = failure(Self.answer(#"{"error":"\#(name.rawValue)"}"#, 400))
        switch found {
        case .grantInvalid(let found, _), .clientRejected(let found), .refused(let found): #expect(found == name)
        default: Issue.record("\(String(describing: found))")
        }
    }

    @Test func `invalid_request says revoked only where the provider says it so`() {
        let answer = Self.answer(#"{"error":"invalid_request"}"#, 400)
        #expect(failure(answer, [.revokedIsInvalidRequest]) == .grantInvalid(.invalidRequest))
        #expect(failure(answer) == .refused(.invalidRequest))
    }

    @Test(arguments: [
        (UInt(201), CallFailure.answerInvalid(.status(201))), (204, .answerInvalid(.status(204))),
        (301, .answerInvalid(.redirect)), (302, .answerInvalid(.redirect)), (400, .answerInvalid(.status(400))),
        (401, .answerInvalid(.status(401))), (404, .answerInvalid(.status(404))),
        (429, .unavailable(.status(429), retryAfterSeconds: nil)),
        (500, .unavailable(.status(500), retryAfterSeconds: nil)),
        (503, .unavailable(.status(503), retryAfterSeconds: nil)),
        (599, .unavailable(.status(599), retryAfterSeconds: nil)),
    ])
    func `a grant counts with status 200 only`(status: UInt, expected: CallFailure) {
        #expect(failure(Self.answer(#"{"access_token":"a","token_type":"b"}"#, status)) == expected)
    }

    @Test(arguments: [
        "Bearer", "bearer", "DPoP", "N_A", "pop.1", "urn:ietf:params:oauth:token-type:x", "https://op.example/t?a=1#b",
    ])
    func `a token type is a name or a URI`(type: String) throws {
        let answer = Self.answer(#"{"access_token":"a","token_type":"\#(type)"}"#)
        #expect(try answer.grant([], now: Self.now).tokenType == type)
    }

    /// A backend may write it into a header field, in front of the access token.
    @Test(arguments: [
        #"Bearer\r\nX-User: 1"#, #"Bearer\n"#, "Bearer ", " Bearer", "Bearer a", #"Bearer\u0001"#, #"Bearer\""#,
        "Bearér",
        "Bearer,", "Bearer=", "-:", ":", "1:a", #"a:\\"#, "a: b", String(repeating: "b", count: 256),
    ])
    func `another token type is refused, whatever the preset`(type: String) {
        let answer = Self.answer(#"{"access_token":"a","token_type":"\#(type)"}"#)
        #expect(failure(answer) == .answerInvalid(.member(.tokenType)))
        #expect(failure(answer, [.noTokenType]) == .answerInvalid(.member(.tokenType)))
    }

    @Test(arguments: [#"{"access_token":"a"}"#, #"{"access_token":"a","token_type":null}"#])
    func `a token type may be missing where the preset says so`(body: String) throws {
        #expect(try Self.answer(body).grant([.noTokenType], now: Self.now).tokenType == nil)
        #expect(failure(Self.answer(body)) == .answerInvalid(.member(.tokenType)))
    }

    @Test(arguments: [
        (nil, nil), ("7", Int64(7)), ("0", 1), ("60", 60), ("3600", 60), ("-1", nil), ("", nil), ("1.5", nil),
        ("Tue, 24 Nov 2026 00:00:00 GMT", nil), ("99999999999999999999", nil),
    ])
    func `Retry-After is passed on within bounds, whatever the body says`(value: String?, seconds: Int64?) {
        for status in [UInt(429), 503] {
            let answer = Self.answer(#"{"error":"invalid_grant"}"#, status, retryAfter: value)
            #expect(failure(answer) == .unavailable(.status(status), retryAfterSeconds: seconds))
        }
    }

    @Test(arguments: [
        (#"["a","b c"]"#, ["a", "b c"]), ("[]", nil), (#""a b""#, ["a", "b"]), ("null", nil), (#""""#, nil),
    ])
    func `scopes in a list are read where the provider sends them so`(value: String, scopes: [String]?) throws {
        let answer = Self.answer(#"{"access_token":"a","token_type":"b","scope":\#(value)}"#)
        #expect(try answer.grant([.scopeIsList], now: Self.now).scopes == scopes)
    }

    @Test(arguments: ["[1]", #"["a",null]"#, #"["a\n"]"#, "{}", "1"])
    func `what is no list of texts is mistyped`(value: String) {
        let answer = Self.answer(#"{"access_token":"a","token_type":"b","scope":\#(value)}"#)
        #expect(failure(answer, [.scopeIsList]) == .answerInvalid(.member(.scope)))
    }

    @Test func `an error counts at any status below 500 but 429`() {
        for status in [UInt(200), 201, 204, 302, 307, 399, 400, 404, 418, 499] {
            #expect(failure(Self.answer(#"{"error":"invalid_grant"}"#, status)) == .grantInvalid(.invalidGrant))
        }
        #expect(failure(Self.answer(#"{"error":1}"#, 302)) == .refused(.other))
        #expect(failure(Self.answer(#"{"error":null}"#, 302)) == .answerInvalid(.redirect))
        #expect(
            failure(Self.answer(#"{"error":"invalid_grant"}"#, 302, hasContentCoding: true))
                == .answerInvalid(.redirect))
    }

    @Test func `a content coding that nobody asked for is not read`() {
        let body = #"{"access_token":"a","token_type":"b"}"#
        #expect(failure(Self.answer(body, hasContentCoding: true)) == .answerInvalid(.contentCoding))
    }

    @Test func `overlong tokens are refused, the longest is not`() {
        let members =
            [
                ("access_token", 49152, .accessToken), ("id_token", 49152, .idToken),
                ("refresh_token", 16384, .refreshToken),
            ] as [(String, Int, CallFailure.AnswerFault.Member)]
        for (name, longest, member) in members {
            for (length, fault) in [(longest, nil), (longest + 1, .answerInvalid(.member(member)))]
                as [(Int, CallFailure?)]
            {
                var answer = ["access_token": "a", "token_type": "b"]
                answer[name] = String(repeating: "a", count: length)
                let text = answer.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
                #expect(failure(Self.answer("{\(text)}")) == fault, "\(name)")
            }
        }
    }

    // MARK: Revocation

    @Test(arguments: [
        ("", UInt(200), nil), ("", 204, nil), ("<html>", 200, nil), ("{}", 200, nil),
        (#"{"error":"invalid_token"}"#, 400, nil),
        (#"{"error":"invalid_client"}"#, 400, CallFailure.clientRejected(.invalidClient)),
        (#"{"error":"invalid_client"}"#, 200, .clientRejected(.invalidClient)),
        (#"{"error":"invalid_grant"}"#, 400, .grantInvalid(.invalidGrant)),
        (#"{"error":"unsupported_token_type"}"#, 400, .refused(.unsupportedTokenType)),
        ("", 400, .answerInvalid(.notJSON)), ("{}", 400, .answerInvalid(.status(400))),
        ("", 302, .answerInvalid(.redirect)), ("", 503, .unavailable(.status(503), retryAfterSeconds: nil)),
        ("", 429, .unavailable(.status(429), retryAfterSeconds: nil)),
    ])
    func `answers to a revocation`(body: String, status: UInt, expected: CallFailure?) {
        var found: CallFailure?
        do throws(CallFailure) { try Self.answer(body, status).revoked() } catch { found = error }
        #expect(found == expected)
    }

    // MARK: User info

    @Test(arguments: [
        (#"{"sub":"1","name":"a"}"#, UInt(200), nil),
        (#"{"sub":"2"}"#, 200, CallFailure.answerInvalid(.otherSubject)),
        (#"{"sub":1}"#, 200, .answerInvalid(.otherSubject)),
        ("{}", 200, .answerInvalid(.otherSubject)), ("x.y.z", 200, .answerInvalid(.notJSON)),
        (#"{"error":"invalid_token"}"#, 401, .refused(.invalidToken)), ("{}", 401, .answerInvalid(.status(401))),
        ("", 500, .unavailable(.status(500), retryAfterSeconds: nil)),
    ])
    func `answers of a user info endpoint`(body: String, status: UInt, expected: CallFailure?) {
        var found: CallFailure?
        do throws(CallFailure) {
            #expect(try Self.answer(body, status).userInfo(of: "1") == .claims(Array(body.utf8)))
        } catch { found = error }
        #expect(found == expected)
    }

    @Test(arguments: [
        ("application/jwt", UInt(200), true), ("Application/JWT; a=b", 200, true), ("application/jwt", 401, false),
        ("application/json", 200, false), ("text/plain", 200, false),
    ])
    func `the media type says that user info is a JWT`(type: String, status: UInt, isToken: Bool) {
        let answer = EndpointAnswer(
            status: status, retryAfter: nil, hasContentCoding: false, contentType: type, body: Array("x.y.z".utf8))
        for refusal: UserInfoTokenFault? in [nil, .notSigned, .notEncrypted] {
            let found = try? answer.userInfo(of: "1", refusingClaims: refusal)
            #expect(found == (isToken ? .token(Array("x.y.z".utf8)) : nil))
        }
    }

    @Test(arguments: [UserInfoTokenFault.notSigned, .notEncrypted])
    func `plain user info may be refused`(fault: UserInfoTokenFault) {
        #expect(throws: CallFailure.answerInvalid(.userInfoToken(fault))) {
            try Self.answer(#"{"sub":"1"}"#, 200).userInfo(of: "1", refusingClaims: fault)
        }
        // An error of the endpoint is told as one.
        #expect(throws: CallFailure.refused(.invalidToken)) {
            try Self.answer(#"{"error":"invalid_token"}"#, 401).userInfo(of: "1", refusingClaims: fault)
        }
    }

    // MARK: User migration

    private static let generating = UserMigrationRequest.generate(subject: "1", recipientTeamID: "TEAM000001")
    private static let redeeming = UserMigrationRequest.redeem(transferSubject: "2")

    @Test(arguments: [
        (generating, #"{"transfer_sub":"2"}"#, UserMigration.transferSubject("2")),
        (
            redeeming, #"{"sub":"3","email":"a@b","is_private_email":true}"#,
            .user(subject: "3", email: "a@b", isPrivateEmail: true)
        ),
        (redeeming, #"{"sub":"3"}"#, .user(subject: "3", email: nil, isPrivateEmail: nil)),
        (
            redeeming, #"{"sub":"3","email":null,"is_private_email":"true"}"#,
            .user(subject: "3", email: nil, isPrivateEmail: true)
        ),
    ])
    func `users who move to another team`(
        request: UserMigrationRequest, body: String, expected: UserMigration
    ) throws {
        #expect(try Self.answer(body).userMigration(request) == expected)
    }

    @Test(arguments: [
        (generating, "{}", UInt(200), CallFailure.answerInvalid(.member(.transferSubject))),
        (generating, #"{"transfer_sub":1}"#, 200, .answerInvalid(.member(.transferSubject))),
        (generating, #"{"sub":"1"}"#, 200, .answerInvalid(.member(.transferSubject))),
        (redeeming, #"{"email":"a@b"}"#, 200, .answerInvalid(.member(.subject))),
        (redeeming, #"{"sub":"1","email":1}"#, 200, .answerInvalid(.member(.email))),
        (redeeming, "{}", 201, .answerInvalid(.status(201))), (redeeming, "", 200, .answerInvalid(.notJSON)),
        (redeeming, #"{"error":"invalid_request"}"#, 400, .refused(.invalidRequest)),
        (redeeming, #"{"error":"invalid_client"}"#, 400, .clientRejected(.invalidClient)),
        (redeeming, #"{"error":"x"}"#, 429, .unavailable(.status(429), retryAfterSeconds: nil)),
    ])
    func `no user who moves to another team`(
        request: UserMigrationRequest, body: String, status: UInt, expected: CallFailure
    ) {
        #expect(throws: expected) { try Self.answer(body, status).userMigration(request) }
    }

    @Test func `no description shows a token`() throws {
        let body = #"{"access_token":"canary","token_type":"b","refresh_token":"canary","id_token":"canary"}"#
        let grant = try Self.answer(body).grant([], now: Self.now)
        var dumped = ""
        dump(grant, to: &dumped)
        dump(grant.refreshToken, to: &dumped)
        #expect(!"\(grant)\(grant.accessToken)\(String(reflecting: grant.refreshToken))\(dumped)".contains("canary"))
    }
}
