import IDToken
import SignInFixtures
import Testing

@Suite struct ExpectedSubjectTests {
    private func signIn(_ subject: String, issuer: String? = nil) -> SignIn {
        SignIn.plain.expecting { $0.expectedSubject = ExpectedSubject(subject: subject, issuer: issuer) }
    }

    @Test func `the expected subject passes, and any other is refused`() {
        #expect(signIn("user").rejection == nil)
        #expect(signIn("user", issuer: "https://op.example").rejection == nil)
        for other in ["User", "user ", "use", "users", "us\u{65}\u{301}r", ""] {
            #expect(signIn(other).rejection == .subjectMismatch)
        }
        for other in ["https://op.example/", "https://OP.example", ""] {
            #expect(signIn("user", issuer: other).rejection == .subjectMismatch)
        }
    }

    @Test func `an issuer's alias is the issuer`() {
        let signIn = signIn("user", issuer: "https://op.example").policy { $0.issuerAliases = ["https://old.example"] }
        #expect(signIn.with("iss", #""https://old.example""#).rejection == nil)
    }

    @Test func `a token that is bad otherwise is refused for that`() {
        #expect(signIn("other").at(1_800_000_000).rejection == .tokenExpired)
        #expect(signIn("other").expecting { $0.nonce = "n" }.rejection == .nonceMissing)
    }
}

@Suite struct SessionRevocationTests {
    private func signIn(after moment: Int64) -> SignIn {
        SignIn.plain.with("auth_time", "1699999000").policy { $0.clockSkewSeconds = 300 }.expecting {
            $0.authenticatedAfter = UnixTime(seconds: moment)
        }
    }

    @Test func `one second before is revoked, whatever the clock skew`() {
        #expect(signIn(after: 1_699_999_000).rejection == nil)
        #expect(signIn(after: 1_699_999_001).rejection == .sessionRevoked)
        #expect(signIn(after: .max).rejection == .sessionRevoked)
        #expect(signIn(after: .min).rejection == nil)
    }

    @Test func `iat is used only if there is no auth_time`() {
        #expect(signIn(after: 1_700_000_000).without("auth_time").rejection == nil)
        #expect(signIn(after: 1_700_000_001).without("auth_time").rejection == .sessionRevoked)
        #expect(signIn(after: 1_700_000_000).rejection == .sessionRevoked)
    }

    @Test func `an auth_time in the future is no evidence`() {
        let signIn = signIn(after: 1_699_999_000).at(1_700_000_000)
        #expect(signIn.with("auth_time", "1700000300").rejection == nil)
        #expect(signIn.with("auth_time", "1700000301").rejection == .invalid("auth_time"))
    }

    @Test func `it comes after max_age`() {
        let old = signIn(after: 1_700_000_000).expecting { $0.maximumAuthenticationAgeSeconds = 0 }
        #expect(old.rejection == .authTimeTooOld)
    }
}
