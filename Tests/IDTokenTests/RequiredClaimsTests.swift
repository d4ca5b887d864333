import IDToken
import SignInFixtures
import Testing
import TestSupport

@Suite struct RequiredClaimsTests {
    private func subject(_ json: String) -> SignIn { SignIn.plain.with("sub", json) }

    @Test(arguments: ["u", "001234.abcd.0123", "0", " u ", "é", "e\u{301}", "😀", "a@b", "a b"])
    func `a subject is reported as it is written`(text: String) throws {
        #expect(try subject("\"\(text)\"").verify().identity.subject.utf8.elementsEqual(text.utf8))
    }

    @Test func `an absent or empty subject is missing`() {
        #expect(SignIn.plain.without("sub").rejection == .missing("sub"))
        #expect(subject(#""""#).rejection == .missing("sub"))
    }

    @Test(arguments: ["5", "12345678901234567890", "null", "true", "[]", #"["user"]"#, "{}"])
    func `a subject that is no string is invalid`(json: String) {
        #expect(subject(json).rejection == .invalid("sub"))
    }

    /// OpenID Connect Core, section 2: the length is counted in characters, not octets.
    @Test(arguments: ["a", "é", "€", "😀"])
    func `a subject has 255 characters at most`(character: String) {
        #expect(subject("\"\(String(repeating: character, count: 255))\"").rejection == nil)
        #expect(subject("\"\(String(repeating: character, count: 256))\"").rejection == .invalid("sub"))
    }

    @Test(arguments: [ProviderPreset.gitHubActions, .kubernetes])
    func `the subject of a workload has 512 characters at most`(preset: ProviderPreset) {
        let limit = preset.facts([:]).policy.maximumSubjectLength
        func workload(_ length: Int) -> SignIn {
            subject("\"\(String(repeating: "a", count: length))\"").policy { $0.maximumSubjectLength = limit }
        }
        #expect(workload(512).rejection == nil)
        #expect(workload(513).rejection == .invalid("sub"))
    }

    @Test func `a character that joins another is one of its own`() {
        #expect(subject("\"\(String(repeating: "e\u{301}", count: 127))\"").rejection == nil)
        #expect(subject("\"\(String(repeating: "e\u{301}", count: 128))\"").rejection == .invalid("sub"))
    }

    @Test(arguments: [" ", "   ", #"\u0020"#])
    func `a subject of nothing but spaces is invalid`(text: String) {
        #expect(subject("\"\(text)\"").rejection == .invalid("sub"))
    }

    @Test(arguments: [
        #"a\nb"#, #"\t"#, #"a\u0001"#, #"a\u001f"#, "a\u{7f}", #"a\u007f"#, "\u{80}", "a\u{9f}b", #"a\r"#,
    ])
    func `a subject with a control character is invalid`(text: String) {
        #expect(subject("\"\(text)\"").rejection == .invalid("sub"))
    }

    @Test func `a control character is found wherever it stands`() {
        for length in 1...20 {
            for place in 0..<length {
                let (before, after) = (
                    String(repeating: "a", count: place), String(repeating: "~", count: length - place - 1)
                )
                for character in [#"\u0001"#, #"\u001f"#, "\u{7f}", "\u{80}", "\u{9f}"] {
                    #expect(subject("\"\(before)\(character)\(after)\"").rejection == .invalid("sub"))
                }
                for character in ["!", "\u{a0}", "é", "ÿ"] {
                    #expect(subject("\"\(before)\(character)\(after)\"").rejection == nil)
                }
            }
        }
    }

    @Test func `a subject with U+0000 spoils the whole token`() {
        #expect(subject(#""a\u0000""#).rejection == .tokenMalformed(.payload))
    }

    /// Notifications and logout tokens, signed with the same keys for the same audience.
    @Test(arguments: [
        "{}", #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#, #""{\"type\":\"email-disabled\"}""#,
        "null", "[]", "false",
    ])
    func `a token of events is no ID Token`(json: String) {
        #expect(SignIn.plain.with("events", json).rejection == .invalid("events"))
        #expect(SignIn.plain.with("Events", json).rejection == nil)
        #expect(SignIn.plain.with("event", json).rejection == nil)
    }

    @Test func `a claim that the settings ask for has a value`() {
        let signIn = SignIn.plain.policy { $0.requiredClaims = [ClaimName("email"), ClaimName("tid")] }
        let both = signIn.with("email", #""a@b""#).with("tid", "0")
        #expect(both.rejection == nil)
        #expect(both.without("email").rejection == .missing("email"))
        #expect(both.without("tid").rejection == .missing("tid"))
        for nothing in ["null", #""""#] {
            #expect(both.with("email", nothing).rejection == .missing("email"))
            #expect(both.with("tid", nothing).rejection == .missing("tid"))
        }
        for something in ["false", "0", "[]", "{}", #"" ""#] { #expect(both.with("tid", something).rejection == nil) }
        // Claim names are case-sensitive.
        #expect(both.without("tid").with("TID", "0").rejection == .missing("tid"))
    }
}
