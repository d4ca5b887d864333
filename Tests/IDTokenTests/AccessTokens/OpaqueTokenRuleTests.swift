import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// The rules for what a provider says of an opaque token.
@Suite struct OpaqueTokenRuleTests {
    private static let now = UnixTime(seconds: 1_700_000_000)

    private static let good = ClaimsText([
        "active": "true", "iss": #""https://op.example""#, "sub": #""1""#, "aud": #""api""#, "client_id": #""app""#,
        "scope": #""a b""#, "exp": "1700000600", "iat": "1699999000", "nbf": "1699999000",
    ])

    private static let policy = {
        var policy = ProviderPolicy(id: "p", issuer: "https://op.example", audiences: ["api"])
        policy.clockSkewSeconds = 10
        return policy
    }()

    private static let dialect = AccessTokenDialect.opaque(AuthorizationClaims())

    private func outcome(
        _ claims: ClaimsText, scopes required: [String] = [], _ change: (inout ProviderPolicy) -> Void = { _ in },
        expecting parameters: AccessTokenParameters = AccessTokenParameters()
    ) throws -> Result<(token: IntrospectedToken, binding: TokenBinding?), Rejection> {
        var policy = Self.policy
        change(&policy)
        var dialect = Self.dialect
        dialect.requiredScopes = required
        let introspected = try #require(IntrospectedClaims(Array(claims.json.utf8)))
        let verifier = try JWSVerifier()
        return Result { () throws(Rejection) in
            try verifier.checkOpaqueToken(
                Array("token".utf8)[...], saidToHave: introspected, under: policy, dialect, expecting: parameters,
                now: Self.now)
        }
    }

    private func rejection(
        _ claims: ClaimsText, scopes: [String] = [], _ change: (inout ProviderPolicy) -> Void = { _ in },
        expecting parameters: AccessTokenParameters = AccessTokenParameters()
    ) throws -> Rejection? {
        if case .failure(let rejection) = try outcome(claims, scopes: scopes, change, expecting: parameters) {
            return rejection
        }
        return nil
    }

    @Test func `all members`() throws {
        let (token, binding) = try outcome(Self.good).get()
        #expect(token.identity?.subject == "1" && token.identity?.issuer == "https://op.example")
        #expect(token.authorization.scopes == ["a", "b"] && token.authorization.clientID == "app")
        #expect(token.expiresAt?.seconds == 1_700_000_600 && token.issuedAt?.seconds == 1_699_999_000)
        #expect(token.audiences == ["api"] && binding == nil)
    }

    @Test(arguments: ["iss", "sub", "client_id", "scope", "exp", "iat", "nbf"])
    func `all but aud may be absent, null or empty`(name: String) throws {
        for claims in [Self.good.without(name), Self.good.with(name, "null"), Self.good.with(name, #""""#)] {
            #expect(try rejection(claims) == nil)
        }
        #expect(try rejection(Self.good.without("aud")) == .claimMissing(ClaimName("aud")))
        #expect(try rejection(Self.good.with("aud", "[]")) == .claimMissing(ClaimName("aud")))
    }

    @Test func `without sub there is no identity, and no expected subject`() throws {
        let nobody = Self.good.without("sub")
        #expect(try outcome(nobody).get().token.identity == nil)
        let one = AccessTokenParameters(expectedSubject: ExpectedSubject(subject: "1", issuer: nil))
        #expect(try rejection(Self.good, expecting: one) == nil)
        #expect(try rejection(nobody, expecting: one) == .subjectMismatch)
        #expect(try rejection(Self.good.with("sub", #""2""#), expecting: one) == .subjectMismatch)
    }

    @Test func `times are compared as in a JWT, with clock skew`() throws {
        for (name, time, expected) in [
            ("exp", 1_699_999_991, nil), ("exp", 1_699_999_990, .tokenExpired), ("nbf", 1_700_000_010, nil),
            ("nbf", 1_700_000_011, .tokenNotYetValid), ("iat", 1_700_000_010, nil),
            ("iat", 1_700_000_011, .tokenNotYetValid),
        ] as [(String, Int, Rejection?)] {
            #expect(try rejection(Self.good.with(name, "\(time)")) == expected, "\(name) \(time)")
        }
    }

    @Test func `iat is required only where something depends on it`() throws {
        for claims in [Self.good.without("iat"), Self.good.with("iat", "null")] {
            #expect(try rejection(claims) { $0.maximumTokenAgeSeconds = 60 } == .claimMissing(ClaimName("iat")))
            let revoked = AccessTokenParameters(authenticatedAfter: Self.now)
            #expect(try rejection(claims, expecting: revoked) == .claimMissing(ClaimName("iat")))
        }
        #expect(try rejection(Self.good) { $0.maximumTokenAgeSeconds = 60 } == .tokenTooOld)
    }

    @Test func `issuer, audience and client are compared byte for byte`() throws {
        #expect(try rejection(Self.good.with("iss", #""https://op.example/""#)) == .issuerMismatch)
        #expect(try rejection(Self.good.with("aud", #"["b","api"]"#)) == nil)
        #expect(try rejection(Self.good.with("aud", #""API""#)) == .audienceMismatch)
        #expect(try rejection(Self.good) { $0.authorizedParties = ["app"] } == nil)
        #expect(try rejection(Self.good) { $0.authorizedParties = ["App"] } == .authorizedPartyMismatch)
        #expect(
            try rejection(Self.good.without("client_id")) { $0.authorizedParties = ["app"] }
                == .authorizedPartyMismatch)
    }

    @Test func `without audiences, a token must have none`() throws {
        let none = Self.good.without("aud")
        #expect(try rejection(none, scopes: ["a"]) { $0.audiences = [] } == nil)
        #expect(try rejection(none, scopes: ["c"]) { $0.audiences = [] } == .scopeMissing)
        #expect(try rejection(Self.good, scopes: ["a"]) { $0.audiences = [] } == .audienceMismatch)
    }

    @Test func `scopes are those of the settings and of the request`() throws {
        let needsB = AccessTokenParameters(scopes: ["b"])
        #expect(try rejection(Self.good, scopes: ["a"], expecting: needsB) == nil)
        #expect(try rejection(Self.good, scopes: ["c"], expecting: needsB) == .scopeMissing)
        #expect(try rejection(Self.good.with("scope", #"["a"]"#), scopes: ["a"], expecting: needsB) == .scopeMissing)
    }

    @Test func `a bound token needs its proof`() throws {
        #expect(try rejection(Self.good.with("cnf", "{}")) == .bindingRequired)
        #expect(try rejection(Self.good.with("cnf", #"{"jkt":"x"}"#)) == .bindingRequired)
        #expect(try rejection(Self.good.with("cnf", "[]")) == .claimInvalid(ClaimName("cnf")))
    }

    @Test func `checked again, a token gets the verdict that it would get at first`() throws {
        let verifier = try JWSVerifier()
        let (thumbprint, other) = (String(repeating: "A", count: 43), String(repeating: "E", count: 43))
        let bound = AccessTokenParameters(evidence: BindingEvidence(certificate: CertificateThumbprint(thumbprint)))
        var policy = Self.policy
        policy.audiences = ["api", "api-2"]
        policy.maximumTokenAgeSeconds = 5000
        var (uses, refusals) = (0, Set<String>())
        for claims in [
            Self.good, Self.good.without("exp"), Self.good.without("sub"), Self.good.without("nbf"),
            Self.good.with("aud", #"["api","api-2"]"#), Self.good.with("auth_time", "1699998000"),
            Self.good.with("auth_time", #""x""#), Self.good.with("scope", #"["a"]"#),
            Self.good.with("cnf", #"{"x5t#S256":"\#(thumbprint)"}"#),
        ] {
            let introspected = try #require(IntrospectedClaims(Array(claims.json.utf8)))
            let text = Array("token".utf8)[...]
            func first(
                _ parameters: AccessTokenParameters, _ now: UnixTime
            ) throws(Rejection) -> (token: IntrospectedToken, binding: TokenBinding?) {
                try verifier.checkOpaqueToken(
                    text, saidToHave: introspected, under: policy, Self.dialect, expecting: parameters, now: now)
            }
            let accepted = try first(claims.json.contains("cnf") ? bound : AccessTokenParameters(), Self.now).token
            for parameters in [
                AccessTokenParameters(), bound, AccessTokenParameters(audience: "api"),
                AccessTokenParameters(audience: "api-2"), AccessTokenParameters(scopes: ["b"]),
                AccessTokenParameters(expectedSubject: ExpectedSubject(subject: "1")),
                AccessTokenParameters(expectedSubject: ExpectedSubject(subject: "2"), scopes: ["c"]),
                AccessTokenParameters(authenticatedAfter: UnixTime(seconds: 1_699_999_001)),
                AccessTokenParameters(audience: "api-2", authenticatedAfter: Self.now),
                AccessTokenParameters(
                    scopes: ["c"], evidence: BindingEvidence(certificate: CertificateThumbprint(other))),
            ] {
                for seconds: Int64 in [-1020, -1010, -5, 0, 609, 610, 4010, 4011] {
                    let now = Self.now.advanced(bySeconds: seconds)
                    let expected = Result { () throws(Rejection) in try first(parameters, now).binding }
                    let again = Result { () throws(Rejection) in
                        try verifier.checkAgain(
                            accepted, text, under: policy, Self.dialect, expecting: parameters, now: now)
                    }
                    #expect(again == expected)
                    uses += 1
                    if case .failure(let rejection) = again { refusals.insert("\(rejection)") }
                }
            }
        }
        #expect(uses == 720 && refusals.count >= 9, "\(refusals)")
    }
}
