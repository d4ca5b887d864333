import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// The diagnoses for everything that can go wrong at a sign-in, and the suggested fixes.
@Suite struct DiagnosisTests {
    private func expect(
        _ check: Check, _ code: String, _ explanation: String, _ fix: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(check.refusal?.code == code, sourceLocation: sourceLocation)
        #expect(check.explanation.contains(explanation), "\(check.explanation)", sourceLocation: sourceLocation)
        if let fix {
            #expect(check.fix?.contains(fix) == true, "\(check.fix ?? "")", sourceLocation: sourceLocation)
        }
    }

    // MARK: Form

    @Test func `a damaged valid token is recognized`() {
        let token = SignIn.plain.with("nonce", #""??>>??>>""#).token
        let parts = token.split(separator: ".")
        let padded = parts.map { $0 + String(repeating: "=", count: (4 - $0.count % 4) % 4) }.joined(separator: ".")
        let cases: [(String, String)] = [
            ("\"\(token)\"", "The string contains a token, but it is in quotation marks."),
            ("'\(token)'", "it is in quotation marks"),
            ("Bearer \(token)", "the word Bearer precedes it"),
            ("bearer \(token)\n", "there is whitespace around it or in it"),
            ("\(token)\n", "The string contains a token, but there is whitespace around it or in it."),
            ("\(token.prefix(70))\r\n\(token.dropFirst(70))", "there is whitespace around it or in it"),
            (token.replacing(".", with: "%2E"), "The string contains a token, but it is percent-encoded."),
            ("%22\(token)%22", "The string contains a token, but it is percent-encoded, and it is in quotation marks."),
            (padded + "=", "its parts are padded with ="),
            (plainBase64(token), "The string contains a token, but it was encoded in base64 once more."),
            (base64URL(Array(token.utf8)), "it was encoded in base64 once more"),
            (
                "\"\(plainBase64(token))\"",
                "it is in quotation marks, and it was encoded in base64 once more"
            ),
            (#"{"access_token":"opaque","id_token":"\#(token)"}"#, "a JSON object, whose member id_token is a token"),
            (#"{"credential":"\#(token)"}"#, "a JSON object, whose member credential is a token"),
            ("state=x&id_token=\(token)", "a form, whose field id_token is a token"),
        ]
        for (text, explanation) in cases { expect(explain(text: text)[.tokenForm], "token_malformed", explanation) }
        // Repeat until a signature contains a character of the other alphabet.
        var plain = ""
        while !plain.contains("+") && !plain.contains("/") {
            plain = SignIn.plain.token.replacing("-", with: "+").replacing("_", with: "/")
        }
        expect(explain(text: plain)[.tokenForm], "token_malformed", "it uses the alphabet of plain base64")
    }

    @Test(
        arguments: [
            ("", "The token is empty."), (" \n", "The token is empty."),
            ("undefined", "the word “undefined”, not a token"),
            ("[object Object]", "The string is the word"),
            (#"{"id_token":"x.y.z"}"#, "none of whose members is a token"),
            ("ya29.a0AfH6SN", "not a token's header: it is an opaque access token"), ("opaque", "no dot"),
            (
                "eyJhbGciOiJub25lIn0.e30",
                "The token is not signed: it has no third part, and its header says so (alg none)."
            ),
            ("eyJhbGciOiJOb05lIn0.e30", "not signed"), ("eyJhbGciOiJSUzI1NiJ9.e30", "so its signature is missing"),
            ("a.b.c.d", "the string has 4"), ("a.b.c.d.e", "encrypted (JWE)"),
            ("e30.e30.!!", "signature is not base64url"),
            ("e30..Zg", "payload is empty"), ("e30.eyJh.Zg", "payload is not one JSON object"),
            ("e30.e30.Z", "truncated, or assembled wrongly"), ("bnVsbA.e30.Zg", "header is not one JSON object"),
            ("e30.eyJhIjoxLCJhIjoyfQ.Zg", "payload is not one JSON object"),
            (String(repeating: "a", count: 20_000), "20000 bytes long"), ("%", "no dot"), ("%zz.%zz.%", "%"),
        ])
    func `each kind of malformed token has its own diagnosis`(text: String, explanation: String) {
        let check = explain(text: text)[.tokenForm]
        #expect(check.refusal?.code == "token_malformed")
        #expect(check.explanation.contains(explanation) || text.hasPrefix("%zz"), "\(check.explanation)")
        #expect(check.fix != nil)
        #expect(explain(text: text).checks.dropFirst().allSatisfy { $0.state == .notReached })
    }

    /// Base64 of a token, with the plain alphabet and padding.
    private func plainBase64(_ token: String) -> String {
        let text = base64URL(Array(token.utf8)).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    @Test func `a token that is too long has as many parts as it has, and the fix is not to send less of it`() {
        let long = SignIn.plain.with("groups", "\"\(String(repeating: "g", count: 20_000))\"").token
        let check = explain(text: long)[.tokenForm]
        expect(
            check, "token_malformed", "bytes long, which is more than limits.max_token allows",
            "have the provider put less into it")
        #expect(check.found?.hasSuffix(", 3 parts") == true)
    }

    // MARK: Header and algorithm

    private func header(_ header: String, _ change: (inout ProviderPolicy) -> Void = { _ in }) -> Explanation {
        var signIn = SignIn.plain.policy(change)
        signIn.header = header
        return signIn.explanation
    }

    @Test func `other kinds of tokens are named`() {
        for (type, kind) in [
            ("at+jwt", "an access token"), ("application/AT+JWT", "an access token"), ("logout+jwt", "a logout token"),
            ("secevent+jwt", "a security event"), ("dpop+jwt", "a DPoP proof"),
        ] {
            let explanation = header(#"{"typ":"\#(type)","alg":"ES256","kid":"p256"}"#)
            expect(explanation[.header], "header_unsupported", "says that it is \(kind)", "id_token")
            #expect(explanation[.signature].state == .passed)
        }
        expect(
            header(#"{"typ":"x","alg":"ES256","kid":"p256"}"#)[.header], "header_unsupported",
            "“x”, is not that of an ID Token")
        expect(header(#"{"zip":"DEF","alg":"ES256"}"#)[.header], "header_unsupported", "The header has zip,")
    }

    @Test func `an unsupported algorithm is explained`() {
        let code = "algorithm_not_allowed"
        expect(header(#"{"alg":"none"}"#)[.algorithm], code, "not signed (alg none)", "Never accept")
        expect(
            header(#"{"alg":"HS256"}"#)[.algorithm], code, "anyone who can verify such a token can forge one", "RS256")
        expect(header(#"{"alg":"rs256"}"#)[.algorithm], code, "case-sensitive")
        expect(header(#"{"alg":"ES256K"}"#)[.algorithm], code, "“ES256K” is not supported")
        expect(header(#"{"kid":"p256"}"#)[.algorithm], code, "names no algorithm")
        expect(header(#"{"alg":5}"#)[.algorithm], code, "names no algorithm")
        let line = GoldenToken.line.signIn
        var web = line
        web.header = #"{"alg":"HS256"}"#
        expect(web.explanation[.algorithm], code, "LINE signs tokens of web channels with HS256", "LIFF")
        #expect(web.explanation[.signature].state == .notReached)
    }

    @Test func `an algorithm that is not allowed, with a valid signature, points to the settings`() {
        let explanation = SignIn.plain.policy { $0.algorithms = [.rs256] }.explanation
        expect(
            explanation[.algorithm], "algorithm_not_allowed", "signed with ES256, but the settings of op allow others",
            "add it to algorithms of the provider op")
        #expect(explanation[.algorithm].expected == "RS256")
        #expect(explanation[.algorithm].found == "ES256")
        #expect(explanation[.signature].state == .passed)
        let discovered = SignIn.plain.explanation { $0.algorithms = [.rs256] }
        expect(discovered[.algorithm], "algorithm_not_allowed", "discovery document lists others")
    }

    // MARK: Key and signature

    @Test func `a missing key is reported with the known keys`() {
        var signIn = SignIn.plain
        signIn.header = #"{"alg":"ES256","kid":"new"}"#
        let explanation = signIn.explanation {
            $0.fetchedAt = UnixTime(seconds: 1_700_000_000)
            $0.nextFetchAt = UnixTime(seconds: 1_700_000_160)
        }
        expect(
            explanation[.key], "key_not_found",
            "There is no key “new” in the provider's key set, fetched at 2023-11-14T22:13:20Z (100 s ago).",
            "(POST /v1/providers/op/refresh on the admin listener), or wait up to 60 s.")
        #expect(explanation[.key].expected == "kid p256, rsa")
        #expect(explanation[.key].found == "kid new")
        #expect(explanation[.signature].state == .notReached)
    }

    @Test func `a key with another use is reported with its use`() {
        var signIn = SignIn.plain
        signIn.header = #"{"alg":"ES256","kid":"rsa"}"#
        expect(
            signIn.explanation[.key], "key_not_found",
            "“rsa” exists, but can't verify ES256: it is RSA, 2048 bits.")
        signIn.header = #"{"alg":"ES384"}"#
        expect(
            signIn.explanation[.key], "key_not_found",
            "names no key (kid), and no key in the provider's key set can verify ES384")
        let encryption = SignIn.plain.keys(with: "use", .string("enc"))
        expect(encryption.explanation[.key], "key_not_found", "it is EC P-256, use enc.")
    }

    @Test func `a key that is too small is reported with its size`() {
        var signIn = SignIn.plain
        signIn.key = .rsa
        signIn = signIn.keys(with: "n", .string(base64URL([UInt8](repeating: 0xff, count: 128))))
        expect(signIn.explanation[.key], "key_unsuitable", "(RSA, 1024 bits)", "2048 bits")
    }

    @Test func `a truncated signature is distinguished from an invalid one`() throws {
        var signIn = SignIn.plain
        signIn.key = .otherP256
        signIn.header = #"{"alg":"ES256","kid":"p256"}"#
        expect(
            signIn.explanation { $0.fetchedAt = UnixTime(seconds: 1_700_000_000) }[.signature], "signature_invalid",
            "does not match the provider's key “p256”, which the token names",
            """
            not from a test environment or emulator with the same key IDs. If the provider may have rotated the key \
            since the fetch at 2023-11-14T22:13:20Z (100 s ago), refresh its keys
            """)
        var developed = SignIn.plain
        developed.header = #"{"alg":"ES256","kid":"assay-dev-a1"}"#
        expect(developed.explanation[.key], "key_not_found", "was signed by assay dev", "no other accepts its keys")
        let elsewhere = developed.with("iss", #""http://127.0.0.1:9400/google""#)
        #expect(elsewhere.explanation.summary.contains("was signed by assay dev"))
        let unknown = try IDTokenVerifier().explain(
            UnverifiedToken(elsewhere.token), ofNoneOf: [elsewhere.policy], now: UnixTime(seconds: 1_700_000_100))
        #expect(unknown.likelyCause?.fix?.contains("no other accepts its keys") == true)
        var nameless = signIn
        nameless.header = #"{"alg":"ES256"}"#
        expect(nameless.explanation[.signature], "signature_invalid", "does not match any of the provider's keys")
        #expect(signIn.explanation[.key].state == .passed)
        signIn.header = #"{"alg":"ES256","kid":"p256","nonce":"x"}"#
        expect(signIn.explanation[.signature], "signature_invalid", "an access token for Microsoft Graph", "id_token")

        let verifier = try IDTokenVerifier()
        let cut = SignIn.plain.token.dropLast(6)
        let explanation = verifier.explain(
            try UnverifiedToken(String(cut)), with: ExplainedKeys(set: try JWKSet(jwkSet([TestKey.p256.jwk()]))),
            under: SignIn.plain.policy, isNamed: false, others: [], expecting: VerificationParameters(),
            now: UnixTime(seconds: 1_700_000_100))
        expect(
            explanation[.signature], "signature_invalid",
            "The signature has 60 bytes, but this key's signatures have 64: the token was truncated.", "truncates it")
    }

    // MARK: Issuer

    @Test(
        arguments: [
            ("https://op.example/", "only in a trailing slash"), ("http://op.example", "only in the scheme;"),
            ("https://OP.example", "only in upper and lower case"), ("https://op.example ", "only in whitespace"),
            ("HTTP://Op.example/", "; issuers are compared byte for byte"),
            ("https://evil.example", "“https://evil.example”, is not that of this provider"),
            ("https://accounts.google.com", "that of the preset google"),
            (
                "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0",
                "a Microsoft v2.0 token, but no configured provider"
            ),
        ])
    func `an issuer mismatch says how the issuers differ`(issuer: String, explanation: String) {
        let signIn = SignIn.plain.with("iss", "\"\(issuer)\"")
        expect(signIn.explanation[.issuer], "issuer_mismatch", explanation)
        let unknown = try? IDTokenVerifier().explain(
            UnverifiedToken(signIn.token), ofNoneOf: [signIn.policy], now: UnixTime(seconds: 1_700_000_100))
        #expect(unknown?.refusal?.code == "provider_unknown")
        #expect(unknown?[.issuer].state == .notReached)
        #expect(unknown?.summary.contains(explanation) == true)
    }

    @Test func `a token of another configured provider is attributed to it`() {
        let explanation = SignIn.plain.with("iss", #""https://accounts.google.com""#).explanation(
            others: [SignIn.apple.policy, SignIn.google.policy])
        expect(
            explanation[.issuer], "issuer_mismatch",
            "its iss is google's, but the request names the provider op.",
            "or omit provider")
    }

    @Test func `a token without issuer chooses no provider`() throws {
        let token = try UnverifiedToken(SignIn.plain.without("iss").token)
        let explanation = try IDTokenVerifier().explain(
            token, ofNoneOf: [SignIn.plain.policy, SignIn.apple.policy], now: UnixTime(seconds: 1_700_000_100))
        expect(explanation[.provider], "provider_unknown", "does not say who issued it")
        #expect(explanation[.provider].expected == "https://op.example, https://appleid.apple.com")
    }

    @Test func `Microsoft's tenants and versions are distinguished`() {
        let code = "issuer_mismatch"
        let other = "99999999-2222-3333-4444-55555555aaaa"
        let microsoft = GoldenToken.microsoft.signIn
        let issuer = { (tenant: String) in #""https://login.microsoftonline.com/\#(tenant)/v2.0""# }
        let stranger = microsoft.with("iss", issuer(other)).with("tid", "\"\(other)\"").policy {
            $0.tenants = .only([GoldenToken.tenant])
        }
        expect(
            stranger.explanation[.issuer], code,
            "tenant \(other), which the setting tenants of the provider microsoft does not list", "add \(other)")
        let excluded = stranger.policy { $0.tenants = .any(except: [other]) }
        expect(
            excluded.explanation[.issuer], code, "which excluded_tenants of the provider microsoft lists",
            "remove \(other)")
        let torn = microsoft.with("tid", "\"\(other)\"").policy { $0.tenants = .any(except: []) }
        expect(
            torn.explanation[.issuer], code, "but its tid names another one or none",
            "iss and tid contradict each other")
        let version1 = microsoft.with("iss", #""https://sts.windows.net/\#(GoldenToken.tenant)/""#)
        expect(
            version1.explanation[.issuer], code, "a Microsoft v1.0 token, but v2.0 is expected",
            "preset microsoft-v1")
        let keyed = microsoft.keys(
            with: "issuer", .string("https://login.microsoftonline.com/\(other)/v2.0"))
        expect(keyed.explanation[.keyIssuer], code, "may only sign for another tenant", "key_issuers")
    }

    @Test func `where a policy is not its entry's, the advice names what it is from`() {
        let connection = SignIn.plain.policy { $0.origin = .connection }
        let slash = connection.with("iss", #""https://op.example/""#).explanation[.issuer]
        expect(
            slash, "issuer_mismatch", "the connection's issuer only in a trailing slash", "set the connection's issuer")
        for issuer in ["https://evil.example", "https://accounts.google.com"] {
            expect(
                connection.with("iss", "\"\(issuer)\"").explanation[.issuer], "issuer_mismatch",
                "is not the issuer of the request's connection", "correct the connection's issuer")
        }
        let (code, stranger) = ("audience_mismatch", #""zzz""#)
        expect(
            connection.with("aud", stranger).explanation[.audience], code,
            "the request's connection has other audiences",
            "correct the audience of the request's connection")
        let line = SignIn.plain.policy { $0.origin = .line }
        expect(
            line.with("aud", stranger).explanation[.audience], code, "this issuer's line",
            "add it to this issuer's line in the issuers_file of the provider")
        expect(
            line.with("iss", #""https://evil.example""#).explanation[.issuer], "issuer_mismatch", "evil.example",
            "add this issuer to the list of the provider")
    }

    // MARK: Audience

    @Test func `an unknown audience is compared with the configured ones`() {
        let code = "audience_mismatch"
        expect(
            SignIn.apple.with("aud", #""com.example.web""#).explanation[.audience], code,
            "for com.example.web, but only com.example.app is configured; one is probably the app's bundle ID",
            "If com.example.web is yours too, add it to the audiences of the provider apple")
        let google = SignIn.google.with("aud", #""123-ios.apps.googleusercontent.com""#)
        expect(google.explanation[.audience], code, "only the similar 123-web.apps.googleusercontent.com is configured")
        let upper = SignIn.apple.with("aud", #""com.Example.App""#)
        expect(
            upper.explanation[.audience], code, "compared byte for byte", "replace com.example.app with com.Example.App"
        )
        let stranger = SignIn.plain.with("aud", #""zzz""#)
        expect(stranger.explanation[.audience], code, "has other audiences", "issued to another app")
        #expect(stranger.explanation[.audience].expected == "client")
        #expect(stranger.explanation[.audience].found == "zzz")
        let accessToken = SignIn.plain.with("aud", #""https://api.example""#).with("scope", #""openid""#)
        expect(accessToken.explanation[.audience], code, "looks like an access token: it has scope", "id_token")
        let expo = SignIn.apple.with("aud", #""host.exp.Exponent""#)
        expect(expo.explanation[.audience], code, "every app that runs there", "Never add host.exp.Exponent")
        let shared = SignIn.plain.with("aud", #"["client","other"]"#)
        expect(shared.explanation[.audience], code, "also for other, which is not trusted", "trusted_audiences")
        expect(SignIn.plain.without("aud").explanation[.audience], "claim_missing", "has no aud")
    }

    @Test func `an audience that the request excludes is distinguished from an unknown one`() {
        let signIn = SignIn.plain.policy { $0.audiences = ["client", "web"] }.expecting { $0.audience = "web" }
        expect(
            signIn.explanation[.audience], "audience_mismatch",
            "for client, which is configured, but the request accepts only web.", "Set audience to")
        let beside = SignIn.plain.with("aud", #"["client","x"]"#).expecting { $0.audience = "x" }
        expect(beside.explanation[.audience], "audience_mismatch", "also for x, which is not trusted")
    }

    @Test func `an authorized party mismatch names the party`() {
        let code = "authorized_party_mismatch"
        let party = SignIn.plain.with("azp", #""other""#).policy { $0.authorizedParties = ["client"] }
        expect(
            party.explanation[.authorizedParty], code, "azp, “other”, is not an accepted party", "authorized_parties")
        let beside = SignIn.plain.with("aud", #"["client","x"]"#).with("azp", #""y""#)
        expect(beside.explanation[.audience], code, "azp, “y”,")
        let clerk = GoldenToken.clerkSession.signIn
        expect(clerk.with("azp", #""https://x""#).explanation[.audience], code, "azp, “https://x”,")
        expect(clerk.with("aud", #""x""#).explanation[.audience], "audience_mismatch", "must have none")
    }

    // MARK: Times

    @Test func `an expired token is reported with its age and the clock difference`() {
        let expired = SignIn.plain.at(1_700_003_700)
        expect(
            expired.explanation[.expiry], "token_expired",
            "The token expired 100 s ago according to this machine's clock.",
            "sign in again")
        #expect(expired.explanation[.expiry].expected == "after 2023-11-14T23:14:00Z (now, less clock_skew)")
        #expect(expired.explanation[.expiry].found == "2023-11-14T23:13:20Z (100 s ago)")
        expect(
            expired.explanation { $0.clockOffsetSeconds = -98 }[.expiry], "token_expired",
            "according to this machine's clock, which is 98 s ahead of the provider's.", "NTP")
        expect(
            expired.explanation { $0.clockOffsetSeconds = 7 }[.expiry], "token_expired",
            "which is 7 s behind the provider's", "sign in again")
        // By the provider's clock, it expired even earlier.
        expect(
            expired.explanation { $0.clockOffsetSeconds = 98 }[.expiry], "token_expired",
            "which is 98 s behind the provider's", "sign in again")
        #expect(SignIn.plain.at(1_700_003_630).explanation[.expiry].explanation.contains("within clock_skew (60 s)"))
        for (seconds, text) in [(7000, "expired 116 min"), (100_000, "expired 27 h"), (1_000_000, "expired 11 days")] {
            expect(SignIn.plain.at(1_700_003_600 + Int64(seconds)).explanation[.expiry], "token_expired", text)
        }
    }

    @Test func `a token from the future is reported with the clock difference`() {
        let early = SignIn.plain.at(1_699_999_900)
        expect(
            early.explanation { $0.clockOffsetSeconds = 99 }[.issuedAt], "token_not_yet_valid",
            "issued 100 s in the future according to this machine's clock, which is 99 s behind the provider's.", "NTP")
        expect(
            early.explanation[.issuedAt], "token_not_yet_valid", "in the future according to this machine's clock.",
            "allows 60 s")
        expect(
            early.explanation { $0.clockOffsetSeconds = -99 }[.issuedAt], "token_not_yet_valid",
            "which is 99 s ahead of the provider's", "allows 60 s")
        expect(
            SignIn.plain.with("nbf", "1700001000").explanation[.notBefore], "token_not_yet_valid",
            "becomes valid 15 min in the future")
        expect(
            SignIn.plain.with("iat", "1700000000000").explanation[.issuedAt], "token_not_yet_valid",
            "time in milliseconds")
        expect(SignIn.plain.with("exp", #""1700003600""#).explanation[.expiry], "claim_invalid", "type or form")
    }

    @Test func `a revoked session and another user are explained`() {
        let revoked = SignIn.plain.at(1_700_001_000).expecting {
            $0.authenticatedAfter = UnixTime(seconds: 1_700_000_500)
        }
        expect(
            revoked.explanation[.authenticatedAfter], "session_revoked", "(iat, since there is no auth_time) before",
            "sign in again")
        expect(
            revoked.with("auth_time", "1700000400").explanation[.authenticatedAfter], "session_revoked",
            "(auth_time) before")
        expect(
            revoked.with("auth_time", "1800000000").explanation[.authenticatedAfter], "claim_invalid",
            "auth_time is in the future")
        #expect(revoked.with("auth_time", "1700000500").explanation[.authenticatedAfter].state == .passed)
        let stranger = SignIn.plain.expecting { $0.expectedSubject = ExpectedSubject(subject: "somebody else") }
        expect(
            stranger.explanation[.expectedSubject], "subject_mismatch", "a different user",
            "Have the expected user sign in")
        #expect(stranger.explanation[.expectedSubject].expected?.contains("somebody") == false)
        let elsewhere = SignIn.plain.with("sub", #""somebody""#).expecting {
            $0.expectedSubject = ExpectedSubject(subject: "somebody", issuer: "https://elsewhere.example")
        }
        expect(elsewhere.explanation[.expectedSubject], "subject_mismatch", "the issuer differs")
    }

    @Test func `a token or authentication that is too old is reported with its age`() {
        let old = SignIn.plain.at(1_700_001_000).policy { $0.maximumTokenAgeSeconds = 600 }
        expect(
            old.explanation[.tokenAge], "token_too_old",
            "issued 16 min ago, but max_token_age of the provider op is 600 s")
        let fresh = SignIn.plain.expecting { $0.maximumAuthenticationAgeSeconds = 600 }
        #expect(fresh.explanation[.authTime].state == .passed)
        #expect(fresh.explanation[.authTime].explanation.contains("does not prove when the user authenticated"))
        let proven = fresh.with("auth_time", "1700000000").explanation[.authTime]
        #expect(proven.explanation == "The user authenticated recently enough.")
        let stale = SignIn.plain.at(1_700_001_000).expecting { $0.maximumAuthenticationAgeSeconds = 600 }
        expect(
            stale.explanation[.authTime], "auth_time_too_old",
            "authenticated 16 min ago (iat, since there is no auth_time)",
            "prompt=login")
        expect(
            stale.with("auth_time", "1700000100").explanation[.authTime], "auth_time_too_old", "15 min ago (auth_time)")
        expect(
            stale.with("auth_time", "1800000000").explanation[.authTime], "claim_invalid", "auth_time is in the future"
        )
    }

    // MARK: Claims

    @Test func `missing and refused claims are named`() {
        let signIn = SignIn.plain.with("tid", #""t""#).policy {
            $0.requiredClaims = ["email", "tid", "phone_number"].map(ClaimName.init)
        }
        expect(
            signIn.explanation[.requiredClaims], "claim_missing", "no email, phone_number, but required_claims", "scope"
        )
        let domain = SignIn.plain.with("hd", #""other.example""#).policy {
            $0.claimRules = [ClaimRule(ClaimPath("hd"), .oneOf, ["example.com"])]
        }
        expect(
            domain.explanation[.claimValues], "claim_invalid", "hd is not a value that claim_values",
            "users with this")
        #expect(domain.explanation[.claimValues].expected == "hd is example.com")
        #expect(domain.explanation[.claimValues].found == "hd other.example")
        expect(domain.without("hd").explanation[.claimValues], "claim_missing", "has no hd")
        expect(
            GoldenToken.cognito.signIn.with("token_use", #""access""#).explanation[.claimValues], "claim_invalid",
            "token_use is not a value", "Send an ID Token")
        expect(
            GoldenToken.microsoft.signIn.with("azpacr", #""1""#).explanation[.claimValues], "claim_invalid",
            "refused_claim_values", "Send an ID Token")
        expect(
            SignIn.plain.with("events", "{}").explanation[.events], "claim_invalid", "is a notification, not a token")
        expect(
            SignIn.plain.with("email_verified", #""yes""#).explanation[.identity], "claim_invalid",
            "email_verified is neither a boolean")
    }

    // MARK: Nonce

    private static let raw = "n-0S6_WzA2Mj"
    private static let hexadecimal = "0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc19"
    private static let base64Hash = "CCOgm1TLk4FWEGiwCq9OU5s_VGBGMdPmqCCHm2sEzBk"
    private static let forms: [NonceMatch: String] = [
        .plain: raw, .sha256Hex: hexadecimal, .sha256Base64URL: base64Hash,
    ]

    private func nonce(_ claimed: String?, _ expected: String?, _ accepted: NonceMatch...) -> Check {
        var signIn = SignIn.plain.policy { $0.nonce.accepted = accepted }.expecting { $0.nonce = expected }
        if let claimed { signIn = signIn.with("nonce", "\"\(claimed)\"") }
        return signIn.explanation[.nonce]
    }

    @Test(arguments: NonceMatch.allCases, NonceMatch.allCases)
    func `a nonce in another form than configured is explained`(form: NonceMatch, accepted: NonceMatch) {
        let check = nonce(Self.forms[form], Self.raw, accepted)
        guard form != accepted else { return #expect(check.state == .passed) }
        let words = [
            NonceMatch.plain: "The token carries your nonce itself",
            .sha256Hex: "The token carries the SHA-256 (hex) of your nonce",
            .sha256Base64URL: "The token carries the SHA-256 (base64url) of your nonce",
        ]
        expect(
            check, "nonce_mismatch", "\(words[form]!), but nonce.match of the provider op is \(accepted.rawValue).",
            "nonce: { match: [\(form.rawValue)] }")
    }

    @Test func `a nonce that was hashed twice, or sent as a hash, is explained`() {
        let twice = "hashed twice"
        for once in [Self.hexadecimal, Self.base64Hash] {
            for again in [sha256Hex(once), sha256Base64URL(once)] {
                expect(nonce(again, Self.raw, .sha256Hex), "nonce_mismatch", twice, "Hash it once")
            }
        }
        expect(
            nonce(Self.hexadecimal, Self.hexadecimal, .sha256Hex), "nonce_mismatch",
            "The request's nonce equals the token's claim and looks like a SHA-256",
            "Send the raw nonce")
    }

    @Test func `a nonce in another spelling is explained`() {
        expect(nonce(Self.hexadecimal.uppercased(), Self.raw, .sha256Hex), "nonce_mismatch", "in upper case")
        expect(nonce(Self.base64Hash + "=", Self.raw, .sha256Base64URL), "nonce_mismatch", "in plain base64")
        expect(
            nonce(Self.base64Hash.replacing("_", with: "/"), Self.raw, .sha256Base64URL), "nonce_mismatch",
            "in plain base64")
        expect(nonce(Self.raw, Self.raw + "\n", .plain), "nonce_mismatch", "differ only in whitespace")
        expect(nonce("other", Self.raw, .plain), "nonce_mismatch", "issued for another sign-in", "user's session")
    }

    @Test func `a nonce that only request or token has is explained`() {
        expect(nonce(Self.raw, nil, .plain), "nonce_required", "the request has none", "the raw nonce")
        expect(nonce(Self.raw, nil, .plain), "nonce_required", "the request has none", "nonce: { check: off }")
        expect(nonce(nil, Self.raw, .plain), "nonce_missing", "but the request has one", "nonce: { check: off }")
        let unsupported = SignIn.apple.with("nonce_supported", "false").expecting { $0.nonce = "n" }
        expect(unsupported.explanation[.nonce], "nonce_missing", "this platform supports none")
        let required = SignIn.plain.policy { $0.nonce.isRequired = true }
        expect(required.explanation[.nonce], "nonce_required", "neither request nor token has one")
        expect(SignIn.plain.with("nonce", "5").explanation[.nonce], "claim_invalid", "nonce has a type")
        let unchecked = SignIn.plain.with("nonce", #""x""#).policy { $0.nonce.isChecked = false }
        #expect(unchecked.explanation[.nonce].state == .notAsked)
        #expect(unchecked.explanation[.nonce].explanation.contains("check: off"))
    }

    // MARK: Hashes

    @Test func `a hash mismatch says what was hashed`() {
        let accessToken = "ya29.access"
        let half = "sqOO4d8-j4fA2XFTQcfEtQ"
        let signIn = SignIn.plain.expecting { $0.accessToken = accessToken }
        #expect(signIn.with("at_hash", "\"\(half)\"").explanation[.atHash].state == .passed)
        expect(signIn.explanation[.atHash], "at_hash_missing", "has no at_hash", "Omit access_token")
        expect(signIn.with("at_hash", #""x""#).explanation[.atHash], "at_hash_mismatch", "not the one that this token")
        expect(signIn.with("at_hash", "5").explanation[.atHash], "claim_invalid", "at_hash has a type")
        expect(
            signIn.with("at_hash", "\"\(sha256Base64URL(accessToken))\"").explanation[.atHash], "at_hash_mismatch",
            "the whole hash of the access_token")
        let other = signIn.with("at_hash", "\"\(half)\"")
        expect(
            other.expecting { $0.accessToken = accessToken + "\n" }.explanation[.atHash], "at_hash_mismatch",
            "has whitespace around it")
        let mixed = other.expecting {
            $0.accessToken = "code"
            $0.code = accessToken
        }
        expect(
            mixed.explanation[.atHash], "at_hash_mismatch", "code and access_token are swapped", "under its own name")
        expect(mixed.explanation[.cHash], "c_hash_missing", "has no c_hash")
        // With SHA-384, as a P-384 key would have it.
        var algorithm = other
        algorithm.key = .p384
        algorithm.keys = [.p384]
        expect(algorithm.explanation[.atHash], "at_hash_mismatch", "with the wrong hash function for the token's alg")
    }
}
