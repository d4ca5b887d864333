import IDToken
import SignInFixtures
import Testing

@Suite struct NonceTests {
    private static let raw = "n-0S6_WzA2Mj"
    private static let hexadecimal = "0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc19"
    private static let base64URL = "CCOgm1TLk4FWEGiwCq9OU5s_VGBGMdPmqCCHm2sEzBk"

    private func signIn(_ claimed: String?, _ expected: String?, _ accepted: [NonceMatch] = [.plain]) -> SignIn {
        var signIn = SignIn.plain.policy { $0.nonce.accepted = accepted }.expecting { $0.nonce = expected }
        if let claimed { signIn = signIn.with("nonce", "\"\(claimed)\"") }
        return signIn
    }

    @Test func `without a nonce on either side, none matched`() throws {
        #expect(try signIn(nil, nil).verify().nonceMatch == nil)
    }

    @Test(arguments: [(raw, NonceMatch.plain), (hexadecimal, .sha256Hex), (base64URL, .sha256Base64URL)])
    func `each form matches where it is accepted, and only there`(claimed: String, form: NonceMatch) throws {
        for accepted in NonceMatch.allCases {
            let signIn = signIn(claimed, Self.raw, [accepted])
            if accepted == form {
                #expect(try signIn.verify().nonceMatch == form)
            } else {
                #expect(signIn.rejection == .nonceMismatch, "\(accepted)")
            }
        }
        #expect(try signIn(claimed, Self.raw, NonceMatch.allCases).verify().nonceMatch == form)
        #expect(signIn(claimed, Self.raw, []).rejection == .nonceMismatch)
    }

    @Test func `a nonce on one side only is refused`() {
        #expect(signIn(nil, Self.raw).rejection == .nonceMissing)
        #expect(signIn(Self.raw, nil).rejection == .nonceRequired)
        #expect(signIn("", nil).rejection == .nonceRequired)
        #expect(signIn(nil, "").rejection == .nonceMissing)
    }

    @Test(arguments: [
        "n-0S6_WzA2MJ", "n-0S6_WzA2M", "n-0S6_WzA2Mjj", "N-0S6_WzA2Mj", "n-0S6_WzA2Mj ", " n-0S6_WzA2Mj",
        #"n-0S6_WzA2Mj\n"#, "",
        "n-0S6_WzA2Mj\u{301}", "-0S6_WzA2Mj", "n-0S6_WzA2Mjn-0S6_WzA2Mj", "\u{578}-0S6_WzA2Mj",
    ])
    func `a nonce that differs in one character is another`(claimed: String) {
        #expect(signIn(claimed, Self.raw).rejection == .nonceMismatch)
    }

    @Test(arguments: [
        ("0823A09B54CB9381561068B00AAF4E539B3F54604631D3E6A820879B6B04CC19", NonceMatch.sha256Hex),
        ("0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc1", .sha256Hex),
        ("0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc18", .sha256Hex),
        ("0x0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc19", .sha256Hex),
        ("CCOgm1TLk4FWEGiwCq9OU5s/VGBGMdPmqCCHm2sEzBk", .sha256Base64URL),
        ("CCOgm1TLk4FWEGiwCq9OU5s_VGBGMdPmqCCHm2sEzBk=", .sha256Base64URL),
        ("CCOgm1TLk4FWEGiwCq9OU5s_VGBGMdPmqCCHm2sEzBl", .sha256Base64URL),
    ])
    func `a hash in another spelling is another nonce`(claimed: String, form: NonceMatch) {
        #expect(signIn(claimed, Self.raw, [form]).rejection == .nonceMismatch)
    }

    /// An attacker who has only the token knows the hash, but not the raw nonce.
    @Test func `the claim's own value is no raw nonce where the hash is asked for`() {
        #expect(signIn(Self.hexadecimal, Self.hexadecimal, [.sha256Hex]).rejection == .nonceMismatch)
        #expect(signIn(Self.base64URL, Self.base64URL, [.sha256Base64URL]).rejection == .nonceMismatch)
        #expect(signIn(Self.hexadecimal, Self.hexadecimal, [.sha256Hex, .plain]).rejection == nil)
    }

    @Test func `a nonce is compared as octets`() {
        #expect(signIn("\u{e9}", "\u{e9}").rejection == nil)
        #expect(signIn(#"\u00e9"#, "\u{e9}").rejection == nil)
        #expect(signIn("e\u{301}", "\u{e9}").rejection == .nonceMismatch)
        #expect(signIn(Self.raw, Self.raw + "\0").rejection == .nonceMismatch)
        #expect(signIn(Self.raw, Self.raw + "\0x").rejection == .nonceMismatch)
    }

    @Test func `where nonces are required, none on either side is refused`() {
        func required(_ claimed: String?, _ expected: String?) -> Rejection? {
            signIn(claimed, expected).policy { $0.nonce.isRequired = true }.rejection
        }
        #expect(required(nil, nil) == .nonceRequired)
        #expect(required(Self.raw, nil) == .nonceRequired)
        #expect(required(nil, Self.raw) == .nonceMissing)
        #expect(required(Self.raw, Self.raw) == nil)
    }

    @Test func `where nonces are not checked, anything goes and nothing is said to have matched`() throws {
        for (claimed, expected) in [(nil, Self.raw), (Self.raw, nil), (Self.raw, "other"), (Self.raw, Self.raw)] {
            let signIn = signIn(claimed, expected).policy {
                $0.nonce.isChecked = false
                $0.nonce.isRequired = true
            }
            #expect(try signIn.verify().nonceMatch == nil)
        }
    }

    @Test(arguments: ["5", "null", "true", "[]", #"["n-0S6_WzA2Mj"]"#, "{}"])
    func `a nonce that is no string is invalid, asked for or not`(json: String) {
        #expect(SignIn.plain.with("nonce", json).rejection == .invalid("nonce"))
        #expect(SignIn.plain.with("nonce", json).expecting { $0.nonce = Self.raw }.rejection == .invalid("nonce"))
    }
}
