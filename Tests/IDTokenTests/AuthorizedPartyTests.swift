import IDToken
import SignInFixtures
import Testing

@Suite struct AuthorizedPartyTests {
    @Test func `beside a single audience, any azp passes where none is configured`() throws {
        #expect(try SignIn.plain.verify().authorizedParty == nil)
        #expect(try SignIn.plain.with("azp", #""client""#).verify().authorizedParty == "client")
        #expect(try SignIn.plain.with("azp", #""android""#).verify().authorizedParty == "android")
    }

    @Test func `where parties are configured, azp is one of them or absent`() {
        let signIn = SignIn.plain.policy { $0.authorizedParties = ["android", "ios"] }
        #expect(signIn.rejection == nil)
        #expect(signIn.with("azp", #""android""#).rejection == nil)
        #expect(signIn.with("azp", #""ios""#).rejection == nil)
        for other in ["client", "Android", "androi", "android ", "", "android,ios"] {
            #expect(signIn.with("azp", "\"\(other)\"").rejection == .authorizedPartyMismatch, "\(other)")
        }
    }

    @Test func `a party in another Unicode form is another party`() {
        let signIn = SignIn.plain.policy { $0.authorizedParties = ["K"] }
        #expect(signIn.with("azp", #""K""#).rejection == nil)
        #expect(signIn.with("azp", "\"\u{212a}\"").rejection == .authorizedPartyMismatch)
    }

    @Test(arguments: ["5", "null", "true", "[]", #"["client"]"#, "{}"])
    func `an azp that is no string is invalid`(json: String) {
        #expect(SignIn.plain.with("azp", json).rejection == .invalid("azp"))
    }
}
