import IDToken
import JOSE
@testable import OAuth
import Testing
import TestSupport

@Suite struct IntrospectionAnswerTests {
    private func outcome(
        _ body: String, _ status: UInt = 200, contentType: String? = "application/json", mustBeSigned: Bool = false
    ) -> String {
        let answer = EndpointAnswer(
            status: status, retryAfter: nil, hasContentCoding: false, contentType: contentType, body: Array(body.utf8))
        do throws(CallFailure) {
            switch try answer.introspection(mustBeSigned: mustBeSigned) {
            case .plain(.inactive): return "inactive"
            case .plain(.active(let token)): return "active until \(token.expiresAt?.seconds ?? 0)"
            case .signed: return "signed"
            }
        } catch {
            switch error {
            case .answerInvalid(.member(let member)): return member.rawValue
            case .answerInvalid(let fault): return "\(fault)"
            default: return "\(error)"
            }
        }
    }

    @Test(arguments: [
        (#"{"active":false}"#, "inactive"), (#"{"active":false,"exp":"x","sub":1}"#, "inactive"),
        (#"{"active":true}"#, "active until 0"), (#"{"active":true,"exp":7}"#, "active until 7"),
        (#"{"active":true,"exp":7.5}"#, "active until 7"),
        (#"{"active":true,"exp":null,"sub":null,"aud":null,"scope":null,"iat":""}"#, "active until 0"),
        (#"{"active":true,"aud":[],"scope":["a","b"]}"#, "active until 0"),
        (#"{"active":true,"token_type":"DPoP","cnf":{"jkt":"x"}}"#, "active until 0"),
        ("{}", "active"), (#"{"active":"true"}"#, "active"), (#"{"active":1}"#, "active"),
        (#"{"active":null}"#, "active"),
        (#"{"active":true,"exp":"7"}"#, "exp"), (#"{"active":true,"exp":true}"#, "exp"),
        (#"{"active":true,"nbf":{}}"#, "nbf"), (#"{"active":true,"iat":[]}"#, "iat"),
        (#"{"active":true,"iss":1}"#, "iss"),
        (#"{"active":true,"sub":{}}"#, "sub"), (#"{"active":true,"client_id":false}"#, "client_id"),
        (#"{"active":true,"aud":{}}"#, "aud"), (#"{"active":true,"aud":["a",1]}"#, "aud"),
        (#"{"active":true,"scope":7}"#, "scope"), (#"{"active":true,"token_type":7}"#, "token_type"),
        (#"{"active":true,"token_type":"dpop"}"#, "proofWithoutKey"),
        (#"{"active":true,"token_type":"DPoP","cnf":{"jkt":7}}"#, "proofWithoutKey"),
        (#"{"active":false,"active":true}"#, "notJSON"), ("", "notJSON"), ("[true]", "notJSON"),
    ])
    func `a body says whether the token is active, or which member is wrong`(body: String, expected: String) {
        #expect(outcome(body) == expected)
    }

    @Test func `a status says whose fault it is`() {
        let active = #"{"active":true}"#
        #expect(outcome(active, 401) == "clientRejected(OAuth.OAuthErrorName.invalidClient)")
        #expect(outcome("", 401) == "clientRejected(OAuth.OAuthErrorName.invalidClient)")
        #expect(
            outcome(#"{"error":"invalid_token"}"#, 401) == "clientRejected(OAuth.OAuthErrorName.invalidToken)")
        #expect(outcome(#"{"error":"invalid_client"}"#) == "clientRejected(OAuth.OAuthErrorName.invalidClient)")
        #expect(outcome(#"{"error":"invalid_grant"}"#, 400) == "refused(OAuth.OAuthErrorName.invalidGrant)")
        #expect(outcome(active, 201) == "status(201)")
        #expect(outcome(active, 302) == "redirect")
        #expect(outcome(active, 503).hasPrefix("unavailable"))
    }

    @Test func `a signed response is told by its media type`() {
        let type = "application/token-introspection+jwt"
        #expect(outcome("x", contentType: type) == "signed")
        #expect(outcome("x", contentType: "Application/Token-Introspection+JWT; charset=utf-8") == "signed")
        #expect(outcome(#"{"active":true}"#, contentType: "application/jwt") == "active until 0")
        #expect(outcome(#"{"active":true}"#, contentType: nil, mustBeSigned: true) == "unsigned")
        #expect(outcome("x", 400, contentType: type) == "status(400)")
    }

    // MARK: Signed responses

    private static let now = UnixTime(seconds: 1_700_000_000)
    private static let issuer = ProviderPolicy(id: "p", issuer: "https://op.example", audiences: [])

    private static let good = ClaimsText([
        "iss": #""https://op.example""#, "aud": #"["other","client"]"#, "iat": "1699999999",
        "token_introspection": #"{"active":true,"sub":"a"}"#,
    ])

    private func outcome(
        _ claims: ClaimsText, type: String = "token-introspection+jwt", signedBy key: TestKey = .p256,
        _ change: (String) -> String = { $0 }
    ) throws -> String {
        let header = #"{"alg":"\#(key.algorithm)","kid":"p256","typ":"\#(type)"}"#
        let response = change(compactJWS(header: header, payload: claims.json, signedBy: key))
        let keys = try JWKSet(jwkSet([TestKey.p256.jwk()]))
        let verifier = try JWSVerifier()
        do throws(CallFailure) {
            let answer = try verifier.introspection(
                in: Array(response.utf8), with: keys, algorithms: .all,
                under: SignedResponseRules(issuer: Self.issuer, clientID: "client"), now: Self.now)
            if case .active = answer { return "active" }
            return "inactive"
        } catch {
            if case .answerInvalid(.signedResponse(let fault)) = error { return "\(fault)" }
            return "\(error)"
        }
    }

    @Test func `a signed response is that of its token_introspection`() throws {
        #expect(try outcome(Self.good) == "active")
        #expect(
            try outcome(Self.good.with("aud", #""client""#), type: "application/Token-Introspection+jwt") == "active")
        #expect(try outcome(Self.good.with("token_introspection", #"{"active":false}"#)) == "inactive")
        #expect(try outcome(Self.good.with("active", "false")) == "active")
    }

    @Test func `a signed response must be for us, of the issuer, recent, and of its own type`() throws {
        #expect(try outcome(Self.good, type: "JWT") == "type")
        #expect(try outcome(Self.good, type: "token-introspection") == "type")
        #expect(try outcome(Self.good, signedBy: .otherP256) == "signature")
        #expect(try outcome(Self.good, signedBy: .rsa) == "signature")
        #expect(try outcome(Self.good) { String($0.dropLast(8)) + "AAAAAAAA" } == "signature")
        #expect(try outcome(Self.good) { $0 + ".a" } == "form")
        for issuer in [#""https://op.example/""#, "7", "null"] {
            #expect(try outcome(Self.good.with("iss", issuer)) == "issuer")
        }
        for audience in [#""other""#, #"["a"]"#, "7", "null", #""Client""#] {
            #expect(try outcome(Self.good.with("aud", audience)) == "audience")
        }
        #expect(try outcome(Self.good.without("iat")) == "time")
        // A minute and the skew of a minute; the skew ahead.
        for (time, expected) in [
            (1_699_999_880, "active"), (1_699_999_879, "time"), (1_700_000_060, "active"), (1_700_000_061, "time"),
        ] {
            #expect(try outcome(Self.good.with("iat", "\(time)")) == expected)
        }
        for content in ["[]", "null", #""x""#] {
            #expect(try outcome(Self.good.with("token_introspection", content)) == "content")
        }
        #expect(try outcome(Self.good.with("token_introspection", "{}")).contains("active"))
    }
}
