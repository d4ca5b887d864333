import IDToken
import SignInFixtures
import Testing

@Suite struct TokenTypeTests {
    private func signIn(typ: String) -> SignIn {
        var signIn = SignIn.plain
        signIn.header = #"{"alg":"ES256","kid":"p256","typ":\#(typ)}"#
        return signIn
    }

    @Test(arguments: ["JWT", "jwt", "Jwt", "jWT", "application/jwt", "application/JWT", "Application/Jwt"])
    func `a JWT may say that it is one, in any case of letters`(type: String) {
        #expect(signIn(typ: "\"\(type)\"").rejection == nil)
    }

    @Test(arguments: [
        "at+jwt", "AT+JWT", "application/at+jwt", "logout+jwt", "secevent+jwt", "dpop+jwt", "JOSE", "JOSE+JSON", "",
        " ", "JWT ", " JWT",
        "JW", "JWTT", "JWT;charset=utf-8", "text/jwt", "application/", "application/jwt ", "id_token",
        "\u{ff2a}\u{ff37}\u{ff34}",
    ])
    func `what says that it is something else is believed`(type: String) {
        #expect(signIn(typ: "\"\(type)\"").rejection == .headerUnsupported)
    }

    @Test(arguments: ["5", "null", "true", #"["JWT"]"#, "{}"])
    func `a typ that is no string is malformed`(json: String) {
        #expect(signIn(typ: json).rejection == .tokenMalformed(.header))
    }
}
