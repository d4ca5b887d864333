import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport
@testable import Verification

@Suite struct PolicyTests {
    private static let now = UnixTime(seconds: 1_700_000_100)

    /// An ID Token of 1 700 000 000 with these claims besides the usual ones.
    private static func idToken(_ claims: [String: String]) throws -> GatewayToken {
        let signIn = SignIn.plain.policy { $0.refusesAccessTokens = false }
        return .idToken(try claims.reduce(signIn) { $0.with($1.key, $1.value) }.verify())
    }

    private static func accessToken(_ claims: [String: String]) throws -> GatewayToken {
        guard case .jwt(let dialect) = ProviderPreset.oidc.facts([:]).accessTokens else {
            throw Rejection.headerUnsupported
        }
        let usual = ["jti": #""j""#, "client_id": #""app""#, "scope": #""read write""#]
        let signIn = usual.merging(claims) { $1 }.reduce(SignIn.plain) { $0.with($1.key, $1.value) }
        let text = compactJWS(
            header: #"{"alg":"ES256","kid":"\#(signIn.key.keyID)","typ":"at+jwt"}"#, payload: signIn.claims.json,
            signedBy: signIn.key)
        let verifier = try IDTokenVerifier()
        return .accessToken(
            try verifier.jwsVerifier.verifyAccessToken(
                verifier.read(Array(text.utf8)[...]), with: signIn.keySet, algorithms: .all, under: signIn.policy,
                dialect,
                expecting: AccessTokenParameters(), now: now))
    }

    /// The denial of a token by a policy; `nil` if the request may pass.
    private func denial(
        _ token: GatewayToken, at now: UnixTime = now, _ change: (inout Requirements) -> Void
    ) -> Denial? {
        var policy = ForwardAuthPolicy(id: "p", providers: [])
        change(&policy.requirements)
        do throws(Denial) {
            _ = try policy.fields(for: token, now: now, clockSkewSeconds: 60)
            return nil
        } catch {
            return error
        }
    }

    private func fields(_ token: GatewayToken, _ headers: [IdentityHeader]) throws -> [String] {
        let policy = ForwardAuthPolicy(id: "p", providers: [], headers: headers)
        return try policy.fields(for: token, now: Self.now, clockSkewSeconds: 60).map { "\($0.name): \($0.value)" }
    }

    @Test func `an address outside of the issuer's domains is not forwarded, nor what is said about it`() throws {
        let token = try Self.idToken(["email": #""u@b.example""#, "email_verified": "true"])
        let headers: [IdentityHeader] = [
            IdentityHeader("X-S", .subject), IdentityHeader("X-E", .email), IdentityHeader("X-V", .emailVerified),
            IdentityHeader("X-T", .emailTrust),
        ]
        let policy = ForwardAuthPolicy(id: "p", providers: [], headers: headers)
        func values(_ domains: [String]?) throws -> [String] {
            try policy.fields(for: token, speakingFor: domains, now: Self.now, clockSkewSeconds: 60).dropFirst().map(
                \.value)
        }
        for domains in [nil, ["a.example", "B.Example"]] {
            #expect(try values(domains) == ["u@b.example", "true", "verified"])
        }
        for domains in [[], ["a.example"], ["example"], ["x.b.example"]] {
            #expect(try values(domains) == ["", "", ""], "\(domains)")
        }
    }

    @Test func `every scope must be granted, byte for byte`() throws {
        let token = try Self.accessToken([:])
        #expect(denial(token) { $0.scopes = ["write", "read"] } == nil)
        for missing in ["READ", "rea", "read ", "admin"] {
            #expect(denial(token) { $0.scopes = ["read", missing] } == .scopeMissing(needed: ["read", missing]))
        }
        #expect(
            denial(try Self.idToken(["scope": #""read""#])) { $0.scopes = ["read"] } == .scopeMissing(needed: ["read"]))
    }

    @Test func `claims must have one of the values`() throws {
        let rules = [
            ClaimRule(ClaimPath("hd"), .oneOf, ["example.com", "example.org"]),
            ClaimRule(ClaimPath("/a/b"), .oneOf, ["true"]),
        ]
        let good = ["hd": #""example.org""#, "a": #"{"b":true}"#]
        #expect(denial(try Self.idToken(good)) { $0.claimRules = rules } == nil)
        for (claim, value) in [
            ("hd", #""Example.org""#), ("hd", #"["x","example.net"]"#), ("a", "{}"), ("a", #"{"b":1}"#),
        ] {
            let token = try Self.idToken(good.merging([claim: value]) { $1 })
            #expect(denial(token) { $0.claimRules = rules } == .requirementNotMet)
        }
    }

    @Test func `an element of a list is enough, and groups that are too many to list are told apart`() throws {
        func denied(_ claims: [String: String]) throws -> Denial? {
            denial(try Self.accessToken(claims)) { $0.claimRules = [ClaimRule(ClaimPath("groups"), .oneOf, ["staff"])] }
        }
        #expect(try denied(["groups": #"["other","staff"]"#]) == nil)
        #expect(try denied(["groups": #"["other"]"#]) == .requirementNotMet)
        #expect(try denied([:]) == .requirementNotMet)
        #expect(try denied(["_claim_names": #"{"groups":"src1"}"#]) == .groupsOverage)
        #expect(try denied(["hasgroups": "true"]) == .groupsOverage)
    }

    @Test(arguments: [
        (#""kim@example.com""#, "true", true), (#""kim@EXAMPLE.com""#, "true", true),
        (#""kim@example.com""#, "false", false),
        (#""kim@example.com""#, "null", false), (#""kim@sub.example.com""#, "true", false),
        (#""kim@notexample.com""#, "true", false), (#""kim@example.com.evil.example""#, "true", false),
        (#""kim@evil.example@example.com""#, "true", false), ("null", "true", false),
    ])
    func `an address must be verified and in the domain itself`(email: String, verified: String, passes: Bool) throws {
        var claims = ["email": email, "email_verified": verified]
        if verified == "null" { claims["email_verified"] = nil }
        let token = try Self.idToken(claims)
        #expect((denial(token) { $0.emailDomains = ["example.com"] } == nil) == passes)
        #expect(denial(token) { $0.emailTrust = .authoritative } == .requirementNotMet)
    }

    @Test(arguments: [
        ("auth_time", 1_700_000_000, 1_700_000_100 as Int64, true), ("auth_time", 1_700_000_000, 1_700_000_660, true),
        ("auth_time", 1_700_000_000, 1_700_000_661, false), ("auth_time", 1_700_000_160, 1_700_000_100, true),
        ("auth_time", 1_700_000_161, 1_700_000_100, false), ("x", 0, 1_700_000_660, true),
        ("x", 0, 1_700_000_661, false),
    ])
    func `the user authenticated no longer ago than allowed`(claim: String, value: Int, now: Int64, passes: Bool) throws
    {
        let token = try Self.idToken([claim: "\(value)"])
        let denial = denial(token, at: UnixTime(seconds: now)) { $0.maximumAgeSeconds = 600 }
        #expect(denial == (passes ? nil : .requirementNotMet))
    }

    @Test func `values are visible ASCII, and elements are told apart by a space`() throws {
        let token = try Self.accessToken([
            "name": #""Kim\r\nX-Evil: %20 é ~!\"""#, "roles": #"["a b","","c%"]"#, "email_verified": "true",
        ])
        let headers = [
            IdentityHeader("X-Name", .name), IdentityHeader("X-Roles", .roles), IdentityHeader("X-Scopes", .scopes),
            IdentityHeader("X-Client", .clientID), IdentityHeader("X-Until", .expiresAt),
            IdentityHeader("X-Since", .authTime),
        ]
        #expect(
            try fields(token, headers) == [
                "X-Name: Kim%0D%0AX-Evil:%20%2520%20%C3%A9%20~!\"", "X-Roles: a%20b c%25", "X-Scopes: read write",
                "X-Client: app", "X-Until: 1700003600", "X-Since: ",
            ])
    }

    @Test func `every header is there, whatever the token says`() throws {
        for token in [try Self.idToken([:]), try Self.accessToken(["scope": "null"])] {
            let values = IdentityValue.allCases.map { IdentityHeader("X-\($0.rawValue.count)", $0) }
            #expect(try fields(token, values).count == IdentityValue.allCases.count)
        }
    }

    @Test func `all values together have 4096 bytes at most`() throws {
        let usual = "https://op.exampleuser".utf8.count
        for (length, passes) in [(4096 - usual, true), (4097 - usual, false)] {
            let token = try Self.accessToken(["scope": "\"\(String(repeating: "s", count: length))\""])
            #expect(denial(token) { _ in } == (passes ? nil : .valuesTooLong))
        }
        // A percent sign takes three.
        let token = try Self.accessToken(["scope": "\"\(String(repeating: "%", count: 1400))\""])
        #expect(denial(token) { _ in } == .valuesTooLong)
    }

    @Test func `a denial says to the client what RFC 6750 says`() {
        let all: [(Denial, Int, String?, String)] = [
            (.gatewayUnauthenticated, 403, nil, "caller_unauthenticated"),
            (.gatewayForbidden, 403, nil, "caller_forbidden"),
            (.tokenMissing, 401, "Bearer", "token_missing"),
            (.tokenUnreadable, 401, #"Bearer error="invalid_request""#, "request_invalid"),
            (.tokenRejected(code: "token_expired"), 401, #"Bearer error="invalid_token""#, "token_expired"),
            (
                .scopeMissing(needed: ["a", "b"]), 403, #"Bearer error="insufficient_scope", scope="a b""#,
                "scope_missing"
            ),
            (.certificateUnreadable, 401, #"Bearer error="invalid_request""#, "request_invalid"),
            (.bindingRejected(code: "binding_required"), 401, #"Bearer error="invalid_token""#, "binding_required"),
            (.requestUnknown, 503, nil, "request_unknown"),
            (.requirementNotMet, 403, nil, "requirement_not_met"),
            (.groupsOverage, 403, nil, "groups_overage"), (.valuesTooLong, 403, nil, "values_too_long"),
        ]
        for (denial, status, challenge, code) in all {
            #expect((denial.status, denial.challenge(ChallengeSchemes()), denial.code) == (status, challenge, code))
        }
    }

    @Test func `a denial says to the client what RFC 9449 says`() {
        let both = ChallengeSchemes(proofAlgorithms: ["ES256", "PS256"])
        let proofs = ChallengeSchemes(takesBearer: false, proofAlgorithms: ["ES256"])
        let algs = #"algs="ES256 PS256""#
        let all: [(Denial, String, String)] = [
            (.tokenMissing, "Bearer, DPoP \(algs)", #"DPoP algs="ES256""#),
            (
                .tokenRejected(code: "token_expired"), #"Bearer error="invalid_token", DPoP \#(algs)"#,
                #"DPoP error="invalid_token", algs="ES256""#
            ),
            (
                .scopeMissing(needed: ["a"]), #"Bearer error="insufficient_scope", scope="a", DPoP \#(algs)"#,
                #"DPoP error="insufficient_scope", scope="a", algs="ES256""#
            ),
            (
                .bindingRejected(code: "binding_required"), #"DPoP error="invalid_token", \#(algs)"#,
                #"DPoP error="invalid_token", algs="ES256""#
            ),
            (
                .proofRejected(code: "dpop_proof_invalid"), #"DPoP error="invalid_dpop_proof", \#(algs)"#,
                #"DPoP error="invalid_dpop_proof", algs="ES256""#
            ),
            (
                .nonceRequired(code: "dpop_nonce_required"), #"DPoP error="use_dpop_nonce", \#(algs)"#,
                #"DPoP error="use_dpop_nonce", algs="ES256""#
            ),
        ]
        for (denial, withBearer, without) in all {
            #expect(denial.status == (denial.code == "scope_missing" ? 403 : 401))
            #expect(denial.challenge(both) == withBearer)
            #expect(denial.challenge(proofs) == without)
        }
    }
}
