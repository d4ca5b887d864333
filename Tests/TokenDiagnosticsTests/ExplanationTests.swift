import Bytes
import IDToken
import JOSE
import OpenSSL
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// Properties of all explanations. Every test of the verifier's checks also checks that they agree with the verifier:
/// see ``SignIn/verify()``.
@Suite struct ExplanationTests {
    @Test func `every check is there, in the order of the verifier`() {
        for explanation in [SignIn.plain.explanation, SignIn.plain.without("sub").explanation, malformed("x")] {
            #expect(explanation.checks.map(\.name) == CheckName.ofIDTokens)
        }
    }

    @Test func `the order of the checks is the contract's`() {
        #expect(
            CheckName.ofIDTokens.map(\.rawValue) == [
                "token_form", "provider", "header", "algorithm", "key", "signature", "issuer", "key_issuer", "audience",
                "authorized_party", "expiry", "not_before", "issued_at", "token_age", "auth_time",
                "authenticated_after",
                "subject", "events", "required_claims", "claim_values", "service_account", "identity", "nonce",
                "token_kind", "at_hash",
                "c_hash", "expected_subject",
            ])
    }

    @Test func `a valid token has no failed check, and disabled checks say so`() {
        let explanation = SignIn.plain.explanation
        #expect(explanation.isValid)
        #expect(explanation.checks.allSatisfy { [.passed, .notAsked].contains($0.state) })
        #expect(explanation[.nonce].state == .notAsked)
        #expect(explanation[.atHash].state == .notAsked)
        #expect(explanation[.signature].state == .passed)
        #expect(
            explanation.summary
                == """
                The token is valid: the provider op issued it to this app; nothing ties it to one sign-in, because neither \
                request nor token has a nonce.
                """)
        #expect(explanation.likelyCause == nil)
    }

    @Test func `only a nonce ties a token to a sign-in`() {
        let withNonce = SignIn.plain.with("nonce", #""n""#).expecting { $0.nonce = "n" }
        #expect(
            withNonce.explanation.summary
                == "The token is valid: the provider op issued it, to this app and for this sign-in.")
        let unchecked = withNonce.policy { $0.nonce.isChecked = false }.explanation
        #expect(unchecked.isValid)
        #expect(unchecked.summary.hasSuffix("because the settings turn nonce checks off (nonce: { check: off })."))
        let withCode = SignIn.plain.with("c_hash", "\"\(halfHash("code"))\"").expecting { $0.code = "code" }
        #expect(withCode.explanation.isValid)
        #expect(withCode.explanation.summary.contains("to this app, together with the request's code; nothing ties it"))
    }

    // MARK: The most likely cause

    @Test func `a token of another provider is recognized, whatever fails first`() {
        let google = SignIn.plain.with("iss", #""https://accounts.google.com""#)
        var otherKey = google
        otherKey.header = #"{"alg":"ES256","kid":"google-1"}"#
        var otherAlgorithm = google
        otherAlgorithm.policy.algorithms = [.rs256]
        var otherSignature = google
        otherSignature.key = .otherP256
        otherSignature.header = #"{"alg":"ES256","kid":"p256"}"#
        for (signIn, code) in [
            (otherKey, "key_not_found"), (otherAlgorithm, "algorithm_not_allowed"),
            (otherSignature, "signature_invalid"),
        ] {
            let explanation = signIn.explanation(others: [SignIn.google.policy])
            #expect(explanation.refusal?.code == code)
            #expect(explanation.likelyCause?.check == .issuer)
            #expect(
                explanation.summary
                    == """
                    The token is from another configured provider: its iss is google's, but the request names \
                    the provider op, and one more check fails.
                    """)
            #expect(explanation.likelyCause?.fix == "Send \"provider\": \"google\", or omit provider.")
        }
        let unconfigured = otherKey.explanation
        #expect(
            unconfigured.summary.hasPrefix("The token is from another provider: its iss is that of the preset google,"))
    }

    @Test func `an old token whose key is gone is reported as expired`() {
        var old = SignIn.plain.with("exp", "1690000000").with("iat", "1689990000")
        old.header = #"{"alg":"ES256","kid":"gone"}"#
        #expect(old.explanation.refusal?.code == "key_not_found")
        #expect(old.explanation.likelyCause?.check == .expiry)
        #expect(old.explanation.summary.hasPrefix("The token expired 115 days ago, and the provider"))
        var recent = SignIn.plain.with("exp", "1699999000")
        recent.header = #"{"alg":"ES256","kid":"gone"}"#
        #expect(recent.explanation.likelyCause?.check == .expiry)
        #expect(recent.explanation[.key].fix?.hasPrefix("Fix the issuer, audience or expiry first") == true)
    }

    @Test func `a key that was not fetched is not the likely cause`() {
        var signIn = SignIn.plain.with("aud", #""other""#)
        signIn.header = #"{"alg":"ES256","kid":"gone"}"#
        #expect(signIn.explanation.refusal?.code == "key_not_found")
        #expect(signIn.explanation.likelyCause?.check == .audience)
        let other = SignIn.plain.with("sub", "5")
        var unknown = other
        unknown.header = #"{"alg":"ES256","kid":"gone"}"#
        #expect(unknown.explanation.likelyCause?.check == .key)
    }

    @Test func `otherwise the first check that fails is the cause`() {
        let explanation = SignIn.plain.with("aud", #""other""#).with("exp", "1600000000").explanation
        #expect(explanation.likelyCause?.check == .audience)
        #expect(explanation.likelyCause?.explanation == explanation[.audience].explanation)
        #expect(explanation.likelyCause?.fix == explanation[.audience].fix)
        #expect(malformed("x").likelyCause?.check == .tokenForm)
    }

    // MARK: Token contents

    private func contents(_ signIn: SignIn) throws -> [String: TokenContents.Member] {
        let contents = try #require(signIn.explanation.contents)
        return Dictionary(
            (contents.header + contents.claims).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `times are dates, with how far they are from now`() throws {
        let explanation = SignIn.plain.with("exp", "1700000160").with("nbf", "1699990000").explanation
        #expect(explanation[.expiry].found == "2023-11-14T22:16:00Z (in 60 s)")
        #expect(explanation[.expiry].expected == "after 2023-11-14T22:14:00Z (now, less clock_skew)")
        #expect(explanation[.notBefore].found == "2023-11-14T19:26:40Z (2 h ago)")
        let shown = try contents(SignIn.plain.with("exp", "1700000160.5").with("iat", "1700000100"))
        #expect(shown["exp"]?.value == "2023-11-14T22:16:00Z (in 60 s)")
        #expect(shown["iat"]?.value == "2023-11-14T22:15:00Z (now)")
        for (seconds, text) in [
            ("-1", "1969-12-31T23:59:59Z (19675 days ago)"), ("951782400", "2000-02-29T00:00:00Z (8659 days ago)"),
            ("-62167219200", "0000-01-01T00:00:00Z (739203 days ago)"),
            ("253402300799", "9999-12-31T23:59:59Z (in 2913221 days)"),
            ("253402300800", "Unix time 253402300800 (in 2913221 days)"),
        ] {
            let value = try contents(SignIn.plain.with("iat", seconds))["iat"]?.value
            #expect(value == text)
        }
    }

    @Test func `personal claims are shown by type only`() throws {
        let signIn = SignIn.plain.with("sub", #""secret""#).with("email", #""secret@example.com""#).with(
            "phone", "5550100"
        )
        .with("address", #"{"street":"secret"}"#).with("roles", #"["secret","b"]"#).with("minor", "true").with(
            "email_verified", "true"
        ).with("tid", #""t1""#).with("scope", #""openid email""#).with("name", "null").with("nonce", #""secret""#)
        let shown = try contents(signIn)
        for (name, value) in [
            ("sub", "6 characters, SHA-256 2bb80d53…"), ("nonce", "6 characters, SHA-256 2bb80d53…"),
            ("email", "18 characters"), ("phone", "a number"), ("address", "an object"), ("roles", "a list of 2"),
            ("minor", "true or false"),
        ] {
            #expect(shown[name]?.value == value)
            #expect(shown[name]?.isMasked == true, "\(name)")
        }
        for (name, value) in [
            ("alg", "ES256"), ("kid", "p256"), ("iss", "https://op.example"), ("email_verified", "true"), ("tid", "t1"),
            ("scope", "openid email"), ("name", "null"),
        ] {
            #expect(shown[name]?.value == value)
            #expect(shown[name]?.isMasked == false, "\(name)")
        }
        // A value of an unexpected type could contain anything.
        let odd = try contents(SignIn.plain.with("tid", #"{"x":"secret"}"#).with("aud", #"[{"x":"secret"}]"#))
        #expect(odd["tid"]?.isMasked == true && odd["aud"]?.isMasked == true)
    }

    @Test func `to its owner, a token shows its values, harmless and bounded`() throws {
        let token = SignIn.plain.with("sub", #""secret""#).with("name", #""K\u001b[31m\u00e6""#).with(
            "phone", "5550100"
        ).with(
            "address", #"{"street":"x"}"#
        ).with("long", "\"\(String(repeating: "x", count: 1000))\"").token
        let contents = try #require(TokenContents(ofOwnToken: token, now: UnixTime(seconds: 1_700_000_100)))
        let values = Dictionary(contents.claims.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        #expect(values["sub"] == "secret" && values["phone"] == "5550100" && values["address"] == #"{"street":"x"}"#)
        #expect(values["name"] == "K\\u{1B}[31m\\u{00E6}")
        #expect(values["long"]?.count == 201)
        #expect(!contents.claims.contains { $0.isMasked })
        #expect(TokenContents(ofOwnToken: "a.b", now: UnixTime(seconds: 0)) == nil)
    }

    @Test func `of very many claims, the first hundred are shown`() throws {
        var signIn = SignIn.plain
        for number in 0..<150 { signIn = signIn.with("claim\(number)", "1") }
        let claims = try #require(signIn.explanation.contents).claims
        #expect(claims.count == 101)
        #expect(claims.last?.value.hasSuffix(" more") == true)
    }

    @Test func `it goes on after a failure`() {
        let signIn = SignIn.plain.with("aud", #""other""#).with("exp", "1600000000").without("sub").expecting {
            $0.nonce = "n"
        }
        let explanation = signIn.explanation
        let failed = explanation.checks.compactMap { check in check.refusal.map { "\(check.name.rawValue) \($0.code)" }
        }
        #expect(
            failed == [
                "audience audience_mismatch", "expiry token_expired", "subject claim_missing", "nonce nonce_missing",
            ])
        #expect(explanation.summary.hasSuffix(", and 3 more checks fail."))
        #expect(explanation[.issuer].state == .passed)
    }

    @Test func `what a signature would prove is said to be unproven without it`() {
        let note = "Anyone could have written this: the signature is not verified."
        var forged = SignIn.plain.with("exp", "1600000000")
        forged.key = .otherP256
        forged.header = #"{"alg":"ES256","kid":"p256"}"#
        let explanation = forged.explanation
        #expect(explanation.refusal == .rejected(.signatureInvalid))
        for name in [Check.Name.issuer, .audience, .expiry, .subject] {
            #expect(explanation[name].explanation.hasSuffix(note), "\(name)")
        }
        #expect(!explanation[.nonce].explanation.contains(note))
        #expect(!SignIn.plain.with("exp", "1600000000").explanation[.expiry].explanation.contains(note))
    }

    @Test func `without keys, all checks but key and signature are reported`() throws {
        let verifier = try IDTokenVerifier()
        let explanation = verifier.explain(
            try UnverifiedToken(SignIn.plain.with("aud", #""other""#).token), with: nil, under: SignIn.plain.policy,
            isNamed: true, others: [], expecting: VerificationParameters(), now: UnixTime(seconds: 1_700_000_100))
        #expect(explanation.refusal == .keysUnavailable)
        #expect(explanation[.key].refusal?.code == "keys_unavailable")
        #expect(explanation[.signature].state == .notReached)
        #expect(explanation[.audience].refusal?.code == "audience_mismatch")
        #expect(!explanation.isValid)
        #expect(explanation[.key].explanation.hasSuffix("can't be checked."))
    }

    @Test func `without keys, the summary says why they could not be fetched, and what to do`() throws {
        var keys = ExplainedKeys(set: .empty, fetchFailure: "idp.example has no address")
        keys.fetchAdvice = "Check this machine's resolver."
        let explanation = try IDTokenVerifier().explain(
            try UnverifiedToken(SignIn.plain.token), with: keys, under: SignIn.plain.policy,
            expecting: VerificationParameters(), now: UnixTime(seconds: 1_700_000_100))
        #expect(explanation.refusal == .keysUnavailable)
        let said = explanation[.key]
        #expect(said.explanation.hasSuffix("can't be checked: idp.example has no address."))
        #expect(explanation.summary.contains("idp.example has no address"))
        #expect(explanation.likelyCause?.fix == keys.fetchAdvice)
    }

    @Test func `without keys, a refused algorithm is what is wrong`() throws {
        var policy = SignIn.plain.policy
        policy.algorithms = [.rs256]
        let explanation = try IDTokenVerifier().explain(
            try UnverifiedToken(SignIn.plain.token), with: nil, under: policy, isNamed: true, others: [],
            expecting: VerificationParameters(), now: UnixTime(seconds: 1_700_000_100))
        #expect(explanation.refusal == .rejected(.algorithmNotAllowed))
        #expect(explanation[.key].state == .notReached && explanation[.signature].state == .notReached)
    }

    @Test func `after a header that changes how the token is read, no key is tried`() {
        var signIn = SignIn.plain
        signIn.header = #"{"alg":"ES256","kid":"p256","crit":["b64"],"b64":false}"#
        let explanation = signIn.explanation
        #expect(explanation[.header].found == "typ absent, crit, b64")
        #expect(explanation[.header].expected == "typ JWT or none; none of crit, b64, zip")
        for name in [Check.Name.algorithm, .key, .signature] { #expect(explanation[name].state == .notReached) }
        #expect(explanation[.audience].state == .passed)
    }

    @Test func `such a header fails the same check in each kind of token`() throws {
        let (issuer, now) = ("https://op.example", UnixTime(seconds: 1_700_000_100))
        let keys = try JWKSet(jwkSet([TestKey.p256.jwk()]))
        func token(_ type: String) -> String {
            let header = #"{"alg":"ES256","kid":"p256","typ":"\#(type)","crit":["x"]}"#
            return compactJWS(header: header, payload: #"{"iss":"\#(issuer)"}"#, signedBy: .p256)
        }
        let access = try AccessTokenVerifier(
            try #require(ProviderPreset.oidc.accessTokenPolicy(id: "op", issuer: issuer, audiences: ["api"])))
        let notified = try NotificationVerifier(
            ProviderPreset.oidc.policy(id: "op", issuer: issuer, audiences: ["app"]),
            ProviderPreset.oidc.notifications([.logout]))
        let explanations = [
            try access.explain(token("at+jwt"), with: keys, now: now),
            try notified.explain(token("logout+jwt"), with: keys, now: now),
        ]
        for explanation in explanations {
            #expect(explanation[.header].refusal == .rejected(.headerUnsupported))
            #expect(explanation[.header].found?.hasSuffix("+jwt, crit") == true)
            #expect(explanation[.header].expected?.hasSuffix("; none of crit, b64, zip") == true)
            for name in [Check.Name.algorithm, .key, .signature] { #expect(explanation[name].state == .notReached) }
        }
        #expect(explanations[0][.header].explanation == "The header has crit, which access tokens must not use.")
    }

    /// Access tokens of authentik have the sign-in's nonce, as ID Tokens do.
    @Test func `an access token with a nonce is an ID Token because of its typ, not of crit`() throws {
        let (issuer, now) = ("https://op.example", UnixTime(seconds: 1_700_000_100))
        let keys = try JWKSet(jwkSet([TestKey.p256.jwk()]))
        func explanation(_ preset: ProviderPreset) throws -> Explanation {
            let policy = try #require(preset.accessTokenPolicy(id: "op", issuer: issuer, audiences: ["app"]))
            let claims = #""aud":"app","azp":"app","client_id":"app","sub":"u","uid":"x","jti":"y","nonce":"n""#
            let token = compactJWS(
                header: #"{"alg":"ES256","kid":"p256","typ":"JWT","crit":["x"]}"#,
                payload: #"{"iss":"\#(issuer)","iat":1700000000,"exp":1700003600,\#(claims)}"#, signedBy: .p256)
            return try AccessTokenVerifier(policy).explain(token, with: keys, now: now)
        }
        let genuine = try explanation(.authentik)
        #expect(genuine.checks.filter { $0.refusal != nil }.map(\.name) == [.header])
        #expect(genuine.summary == "The header has crit, which access tokens must not use.")
        let other = try explanation(.oidc)
        #expect(other.summary == "The token is an ID Token, not an access token: it has nonce.")
    }

    /// Mutates valid tokens: nothing traps, and verifier and explanation agree.
    @Test func `it agrees with the verifier on whatever comes`() throws {
        var random = SplitMix64(seed: 20_261_121)
        let texts = [SignIn.plain, .apple, .google].map { Array($0.with("nonce", #""n""#).token.utf8) }
        let verifier = try IDTokenVerifier()
        let keys = try JWKSet(jwkSet([TestKey.p256.jwk(), TestKey.rsa.jwk()]))
        var refusals: Set<String> = []
        for round in 0..<1500 {
            var text = texts[round % texts.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text.remove(at: index)
                case 1: text[index] = UInt8.random(in: 0...255, using: &random)
                case 2: text[index] = Array("ABab01-_.=".utf8).randomElement(using: &random)!
                default: text.removeSubrange(index..<min(index + 40, text.count))
                }
            }
            var policy = [SignIn.plain, .apple, .google][round % 3].policy
            policy.nonce.accepted = NonceMatch.allCases
            var rejection: Rejection?
            let explanation: Explanation
            do throws(Rejection) {
                let token = try verifier.read(text[...])
                explanation = verifier.explain(
                    token, with: ExplainedKeys(set: keys), under: policy, isNamed: true, others: [],
                    expecting: VerificationParameters(nonce: "n"), now: UnixTime(seconds: 1_700_000_100))
                do throws(Rejection) {
                    _ = try verifier.verify(
                        token, with: keys, under: policy, expecting: VerificationParameters(nonce: "n"),
                        now: UnixTime(seconds: 1_700_000_100))
                } catch {
                    rejection = error
                }
            } catch {
                rejection = error
                explanation = verifier.explain(malformed: text[...], error)
            }
            #expect(explanation.refusal == rejection.map(Check.Refusal.rejected))
            #expect(explanation.checks.allSatisfy { $0.allTexts.allSatisfy(\.isPrintable) })
            #expect(explanation.otherTexts.allSatisfy { $0.isPrintable })
            refusals.insert(explanation.refusal?.code ?? "none")
        }
        #expect(refusals.isSuperset(of: ["token_malformed", "signature_invalid", "key_not_found"]))
    }

    @Test func `claims of any type are reported, and the verifier agrees`() {
        let values = [
            "null", "5", "-1e400", #""\u001b[31mx""#, "[]", "{}", "true", #"["a",5]"#, #""\u202e\ud83d\ude00""#,
        ]
        let names = [
            "iss", "aud", "azp", "exp", "nbf", "iat", "auth_time", "sub", "events", "email", "email_verified",
            "is_private_email", "nonce", "at_hash", "c_hash", "tid",
        ]
        var signIn = SignIn.plain.expecting {
            $0.nonce = "n"
            $0.accessToken = "t"
            $0.code = "c"
            $0.maximumAuthenticationAgeSeconds = 60
        }
        signIn.policy.requiredClaims = [ClaimName("tid")]
        signIn.policy.claimRules = [ClaimRule(ClaimPath("tid"), .oneOf, ["t"])]
        signIn.policy.maximumTokenAgeSeconds = 60
        signIn.policy.authorizedParties = ["client"]
        for name in names {
            for value in values where value != "-1e400" {
                // ``SignIn/rejection`` checks the agreement.
                #expect(signIn.with(name, value).rejection != nil)
                let texts = signIn.with(name, value).explanation.checks.flatMap(\.allTexts)
                #expect(texts.allSatisfy { $0.isPrintable }, "\(name) \(value)")
            }
        }
    }

    @Test func `no secret is shown`() {
        let secrets = [
            "secret-nonce", "secret-code", "secret-access", "secret-subject", "secret-address", "secret-name",
            "secret-claim",
        ]
        var signIn = SignIn.plain.with("nonce", #""secret-nonce""#).with("sub", #""secret-subject""#).with(
            "email", #""secret-address@example.com""#
        ).with("name", #""secret-name""#).with("at_hash", #""secret-access""#).with("department", #""secret-claim""#)
        signIn.policy.claimRules = [
            ClaimRule(ClaimPath("department"), .oneOf, ["x"]), ClaimRule(ClaimPath("email"), .oneOf, ["y"]),
            ClaimRule(ClaimPath("sub"), .noneOf, ["secret-subject"]),
        ]
        signIn = signIn.expecting {
            $0.nonce = "secret-nonce-2"
            $0.accessToken = "secret-access"
            $0.code = "secret-code"
        }
        let good = SignIn.plain.with("nonce", #""secret-nonce""#).expecting { $0.nonce = "secret-nonce" }
        for explanation in [
            signIn.explanation, good.explanation, malformed("secret-nonce"), malformed(#""secret-code""#),
        ] {
            let texts = explanation.checks.flatMap(\.allTexts) + explanation.otherTexts
            for secret in secrets { #expect(!texts.contains { $0.contains(secret) }, "\(secret)") }
        }
        #expect(signIn.explanation[.nonce].found == "12 characters, SHA-256 4e7e571c…")
        #expect(signIn.explanation[.claimValues].expected?.contains("department is one of") == true)
    }

    @Test func `what is shown of a token is bounded`() {
        let long = String(repeating: "x", count: 5000)
        let explanation = SignIn.plain.with("iss", "\"\(long)\"").with("aud", "[\"\(long)\",\"\(long)\"]").explanation
        #expect(explanation.checks.flatMap(\.allTexts).allSatisfy { $0.count < 1000 })
    }

    private func malformed(_ text: String) -> Explanation { explain(text: text) }
}

/// The explanation of a text that is not a token.
func explain(text: String) -> Explanation {
    let verifier = try! IDTokenVerifier()
    let octets = Array(text.utf8)[...]
    do throws(Rejection) {
        _ = try verifier.read(octets)
        preconditionFailure("this is a token")
    } catch {
        return verifier.explain(malformed: octets, error)
    }
}

extension Explanation {
    /// All texts except those of the checks.
    var otherTexts: [String] {
        let members = (contents?.header ?? []) + (contents?.claims ?? [])
        return [summary] + [likelyCause?.explanation, likelyCause?.fix].compactMap(\.self)
            + members.flatMap { [$0.name, $0.value] }
    }
}

extension Check {
    var allTexts: [String] { [explanation, expected, found, fix].compactMap(\.self) }
}

extension String {
    /// Whether a terminal would show it as plain text.
    var isPrintable: Bool {
        unicodeScalars.allSatisfy { (0x20..<0x7f).contains($0.value) || "“”…".unicodeScalars.contains($0) }
    }
}

/// The SHA-256 of a text, in both forms of a nonce.
func sha256Hex(_ text: String) -> String { hex(sha256(text)) }
func sha256Base64URL(_ text: String) -> String { base64URL(sha256(text)) }

/// The `at_hash` or `c_hash` of a text, with SHA-256.
func halfHash(_ text: String) -> String { base64URL(Array(sha256(text).prefix(16))) }

private func sha256(_ text: String) -> [UInt8] {
    try! DigestContext().digest(Array(text.utf8).span, with: .sha256)
}
