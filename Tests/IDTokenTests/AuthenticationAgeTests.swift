import IDToken
import SignInFixtures
import Testing

@Suite struct AuthenticationAgeTests {
    private func signIn(maximumAge: Int64?, skew: Int64 = 0) -> SignIn {
        SignIn.plain.with("auth_time", "1700000000").policy { $0.clockSkewSeconds = skew }.expecting {
            $0.maximumAuthenticationAgeSeconds = maximumAge
        }
    }

    @Test func `auth_time is always reported, and checked only with max_age`() throws {
        #expect(try signIn(maximumAge: nil).verify().authTime?.seconds == 1_700_000_000)
        #expect(try SignIn.plain.verify().authTime == nil)
        #expect(try signIn(maximumAge: nil).with("auth_time", "0").verify().authTime?.seconds == 0)
        #expect(signIn(maximumAge: nil).with("auth_time", "1700009999").rejection == nil)
    }

    @Test func `one second more than asked for is too old`() {
        #expect(signIn(maximumAge: 100).at(1_700_000_100).rejection == nil)
        #expect(signIn(maximumAge: 100).at(1_700_000_101).rejection == .authTimeTooOld)
        #expect(signIn(maximumAge: 100, skew: 60).at(1_700_000_160).rejection == nil)
        #expect(signIn(maximumAge: 100, skew: 60).at(1_700_000_161).rejection == .authTimeTooOld)
    }

    @Test func `an age may be counted back from the beginning of a sign-in, however long that took`() {
        func begun(at begunAt: Int64) -> SignIn {
            signIn(maximumAge: 100).expecting { $0.authenticationAgeIsCountedFrom = UnixTime(seconds: begunAt) }
        }
        #expect(begun(at: 1_700_000_100).at(1_700_003_000).rejection == nil)
        #expect(begun(at: 1_700_000_101).at(1_700_000_101).rejection == .authTimeTooOld)
        #expect(begun(at: 1_700_000_000).at(1_700_000_000).rejection == nil)
    }

    @Test func `iat is used if there is no auth_time`() {
        #expect(signIn(maximumAge: 100).without("auth_time").at(1_700_000_100).rejection == nil)
        #expect(signIn(maximumAge: 100).without("auth_time").at(1_700_000_101).rejection == .authTimeTooOld)
        // A recent iat does not make up for an old auth_time.
        #expect(signIn(maximumAge: 100).with("auth_time", "1699999999").at(1_700_000_100).rejection == .authTimeTooOld)
    }

    /// glewlwyd sends it.
    @Test func `an auth_time of 0 is a time, not absence`() {
        #expect(signIn(maximumAge: 100).with("auth_time", "0").rejection == .authTimeTooOld)
        #expect(signIn(maximumAge: 1_000_000_000_000_000_000).with("auth_time", "0").rejection == nil)
        #expect(signIn(maximumAge: .max).with("auth_time", "0").rejection == nil)
    }

    @Test func `an age of 0 asks for this very second, or a negative one for nothing possible`() {
        #expect(signIn(maximumAge: 0).at(1_700_000_000).rejection == nil)
        #expect(signIn(maximumAge: 0).at(1_700_000_001).rejection == .authTimeTooOld)
        #expect(signIn(maximumAge: -1).at(1_700_000_000).rejection == .authTimeTooOld)
        #expect(signIn(maximumAge: .min).at(1_700_000_000).rejection == .authTimeTooOld)
    }

    @Test func `an auth_time in the future is no evidence`() {
        #expect(signIn(maximumAge: 100).with("auth_time", "1700000100").at(1_700_000_100).rejection == nil)
        #expect(
            signIn(maximumAge: 100).with("auth_time", "1700000101").at(1_700_000_100).rejection == .invalid("auth_time")
        )
        #expect(
            signIn(maximumAge: 100, skew: 60).with("auth_time", "1700000161").at(1_700_000_100).rejection
                == .invalid("auth_time"))
        #expect(signIn(maximumAge: .max).with("auth_time", "1e300").rejection == .invalid("auth_time"))
    }

    @Test(arguments: [#""1700000000""#, "null", "true", "[]", "{}"])
    func `an auth_time that is no number is invalid, asked for or not`(json: String) {
        #expect(signIn(maximumAge: nil).with("auth_time", json).rejection == .invalid("auth_time"))
        #expect(signIn(maximumAge: 100).with("auth_time", json).rejection == .invalid("auth_time"))
    }
}
