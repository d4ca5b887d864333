import IDToken
import SignInFixtures
import Testing

@Suite struct TimesTests {
    private let exact = SignIn.plain.policy { $0.clockSkewSeconds = 0 }

    @Test func `times are reported in whole seconds`() throws {
        let verified = try SignIn.plain.with("nbf", "1699999999.9").with("iat", "1.7e9").verify()
        #expect(verified.issuedAt.seconds == 1_700_000_000)
        #expect(verified.expiresAt.seconds == 1_700_003_600)
        #expect(verified.notBefore?.seconds == 1_699_999_999)
        #expect(try SignIn.plain.verify().notBefore == nil)
    }

    @Test func `exp is the first second that is too late`() {
        #expect(exact.at(1_700_003_599).rejection == nil)
        #expect(exact.at(1_700_003_600).rejection == .tokenExpired)
        #expect(exact.at(1_700_003_601).rejection == .tokenExpired)
    }

    @Test func `clock skew moves exp by as many seconds`() {
        #expect(SignIn.plain.at(1_700_003_659).rejection == nil)
        #expect(SignIn.plain.at(1_700_003_660).rejection == .tokenExpired)
        let thirty = SignIn.plain.policy { $0.clockSkewSeconds = 30 }
        #expect(thirty.at(1_700_003_629).rejection == nil)
        #expect(thirty.at(1_700_003_630).rejection == .tokenExpired)
    }

    @Test func `nbf is the first second that is not too early`() {
        let signIn = exact.with("nbf", "1700000050")
        #expect(signIn.at(1_700_000_049).rejection == .tokenNotYetValid)
        #expect(signIn.at(1_700_000_050).rejection == nil)
        let skewed = SignIn.plain.with("nbf", "1700000150")
        #expect(skewed.at(1_700_000_089).rejection == .tokenNotYetValid)
        #expect(skewed.at(1_700_000_090).rejection == nil)
    }

    @Test func `iat lies not in the future`() {
        #expect(exact.at(1_699_999_999).rejection == .tokenNotYetValid)
        #expect(exact.at(1_700_000_000).rejection == nil)
        #expect(SignIn.plain.at(1_699_999_939).rejection == .tokenNotYetValid)
        #expect(SignIn.plain.at(1_699_999_940).rejection == nil)
        #expect(SignIn.plain.with("iat", "1700003700").rejection == .tokenNotYetValid)
    }

    @Test func `an old token is refused where an age is set, whatever its exp`() {
        let signIn = exact.with("exp", "9007199254740991").policy { $0.maximumTokenAgeSeconds = 600 }
        #expect(signIn.at(1_700_000_600).rejection == nil)
        #expect(signIn.at(1_700_000_601).rejection == .tokenTooOld)
        let skewed = signIn.policy { $0.clockSkewSeconds = 60 }
        #expect(skewed.at(1_700_000_660).rejection == nil)
        #expect(skewed.at(1_700_000_661).rejection == .tokenTooOld)
        #expect(exact.with("exp", "9007199254740991").at(2_000_000_000).rejection == nil)
    }

    @Test func `exp and iat are missing where they are absent`() {
        #expect(SignIn.plain.without("exp").rejection == .missing("exp"))
        #expect(SignIn.plain.without("iat").rejection == .missing("iat"))
        #expect(SignIn.plain.without("nbf").rejection == nil)
    }

    @Test(
        arguments: ["exp", "iat", "nbf"],
        ["null", #""1700000000""#, #""""#, "true", "[]", "[1700000000]", "{}", #"{"n":1}"#])
    func `a time that is no number is invalid`(claim: String, json: String) {
        #expect(SignIn.plain.with(claim, json).rejection == .invalid(claim))
    }

    @Test(arguments: [
        "-1", "0", "-0", "-1e300", "-9223372036854775808", "-9223372036854775809", "1e9", "1.7e9", "1700000000.9",
        "1e-300",
    ])
    func `an exp in the past has expired, however it is written`(json: String) {
        #expect(SignIn.plain.with("exp", json).at(1_700_000_200).rejection == .tokenExpired)
    }

    @Test(arguments: [
        "2147483648", "4294967296", "9007199254740991", "9007199254740993", "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616", "1e18", "1e300", "1.7976931348623157e308", String(repeating: "9", count: 400),
    ])
    func `an exp far ahead has not expired, and nothing overflows`(json: String) throws {
        for skew: Int64 in [0, 60, 300] {
            let signIn = SignIn.plain.with("exp", json).policy {
                $0.clockSkewSeconds = skew
                $0.maximumTokenAgeSeconds = .max
            }
            let verified = try signIn.verify()
            #expect(verified.expiresAt.seconds >= 2_147_483_648)
            #expect(verified.expiresAt.seconds <= 1 << 53)
        }
    }

    @Test(arguments: ["1e400", "-1e400", "NaN", "Infinity", "01700000000", "0x65", "1700000000.", "+1700000000"])
    func `an exp that is no JSON number spoils the whole token`(json: String) {
        #expect(SignIn.plain.with("exp", json).rejection == .tokenMalformed(.payload))
    }

    @Test(arguments: ["0", "-1", "-1e300", "-9223372036854775809"])
    func `an iat long ago is no fault where no age is set`(json: String) {
        #expect(SignIn.plain.with("iat", json).rejection == nil)
        #expect(SignIn.plain.with("iat", json).policy { $0.maximumTokenAgeSeconds = 3600 }.rejection == .tokenTooOld)
    }

    @Test(arguments: ["1e300", "9223372036854775807", "9223372036854775808", "9007199254740993"])
    func `an iat or nbf far ahead is not yet valid, and nothing overflows`(json: String) {
        #expect(SignIn.plain.with("iat", json).rejection == .tokenNotYetValid)
        #expect(SignIn.plain.with("nbf", json).rejection == .tokenNotYetValid)
    }

    @Test func `a fraction counts as its floor`() {
        #expect(exact.with("exp", "1700000100.5").at(1_700_000_100).rejection == .tokenExpired)
        #expect(exact.with("exp", "1700000101.5").at(1_700_000_100).rejection == nil)
        #expect(exact.with("iat", "1700000100.9").at(1_700_000_100).rejection == nil)
        #expect(exact.with("iat", "1700000101.0").at(1_700_000_100).rejection == .tokenNotYetValid)
    }

    @Test func `a clock at either end of time traps nothing`() {
        #expect(SignIn.plain.at(.max).rejection == .tokenExpired)
        #expect(SignIn.plain.at(.min).rejection == .tokenNotYetValid)
        #expect(SignIn.plain.policy { $0.maximumTokenAgeSeconds = .max }.at(.min).rejection == .tokenNotYetValid)
    }
}

@Suite struct UnixTimeTests {
    @Test func `adding saturates`() {
        #expect(UnixTime(seconds: 1).advanced(bySeconds: 2).seconds == 3)
        #expect(UnixTime(seconds: 1).advanced(bySeconds: -2).seconds == -1)
        #expect(UnixTime(seconds: .max).advanced(bySeconds: 1).seconds == .max)
        #expect(UnixTime(seconds: 1).advanced(bySeconds: .max).seconds == .max)
        #expect(UnixTime(seconds: .min).advanced(bySeconds: -1).seconds == .min)
        #expect(UnixTime(seconds: -2).advanced(bySeconds: .min).seconds == .min)
        #expect(UnixTime(seconds: .max).advanced(bySeconds: .min).seconds == -1)
    }

    @Test func `earlier is less`() {
        #expect(UnixTime(seconds: 1) < UnixTime(seconds: 2))
        #expect(!(UnixTime(seconds: 2) < UnixTime(seconds: 2)))
    }
}
