import Bytes
import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// Distinguishes single addresses from text that merely ends in one.
@Suite struct EmailAddressTests {
    private static let letters63 = String(repeating: "a", count: 63)

    private static let addresses = [
        "a@b", "ada@example.com", "A.B+c@Example.COM", "!#$%&'*+-/=?^_`{|}~@example.com", "o'brien@example.com",
        ".@docomo.example", ".a..b.@docomo.example", "...@example.com", "1@2.3", "a@1-2.3--4", "-@example.com",
        "a@xn--mnchen-3ya.example", "a@\(letters63)", "a@\(letters63).\(letters63)",
        "\(letters63)\(letters63)@a.example",
        "ü@münchen.example", "用户@例子.广告", "δοκιμή@παράδειγμα.δοκιμή", "🦊@example.com", "é@e\u{301}.example",
        "a@" + String(repeating: "例", count: 63) + ".example",
        "user_gmail.com#EXT#@tenant.onmicrosoft.example",
    ]

    private static let others = [
        // No `@`, several, or an empty side.
        "a", "no at sign", "@", "a@", "@b", "a@@b", "a@b@c", "a@evil.example@icloud.com", "@a@icloud.com",
        "a@icloud.com@",
        // Lists, display names, quoting, comments, routes, groups.
        "a@evil.example,b@icloud.com", "a,b@icloud.com", "Ada <a@icloud.com>", "<a@icloud.com>", #""a"@icloud.com"#,
        #""a b"@icloud.com"#, #"a"b@icloud.com"#, "a(b)@icloud.com", "a@icloud.com(b)", "g:a@icloud.com",
        "a;b@icloud.com",
        #"a\b@icloud.com"#, "a[b]@icloud.com", "mailto:a@icloud.com", "a@icloud.com,", "a@icloud.com;",
        // Spaces and controls.
        " a@icloud.com", "a@icloud.com ", "a b@icloud.com", "a @icloud.com", "a@ icloud.com", "a@icloud .com",
        "a\t@icloud.com", "a\r\n@icloud.com", "a@icloud.com\n", "a\u{7f}@icloud.com", "a\u{1b}[2J@icloud.com",
        "a\u{80}@icloud.com", "a\u{9f}@icloud.com", "a\u{a0}b@icloud.com", "a\u{3000}@icloud.com",
        "a\u{2028}@icloud.com",
        // Invisible characters, and those that change the writing direction.
        "a\u{200b}@icloud.com", "a\u{ad}@icloud.com", "\u{feff}a@icloud.com", "a\u{202e}@icloud.com",
        "a@\u{2066}icloud.com",
        // Characters that normalize to an `@` or a dot.
        "a@evil.example\u{ff20}icloud.com", "a\u{fe6b}b@icloud.com", "a\u{ff20}b@icloud.com", "a@icloud\u{3002}com",
        "a@icloud\u{ff0e}com", "a@icloud\u{ff61}com",
        // Domains with invalid labels.
        "a@.", "a@.b", "a@b.", "a@b..c", "a@-b", "a@b-", "a@b.-c", "a@b-.c", "a@b_c", "a@b!c", "a@[127.0.0.1]",
        "a@b:25",
        "a@b/c", "a@b?c", "a@b#c", "a@b%c", "a@b+c", "a@b'c", "a@\(letters63)a", "a@\(letters63)a.example",
        "a@b.\(letters63)a", "a@" + String(repeating: "例", count: 64) + ".example",
    ]

    private func signIn(_ email: String) -> SignIn {
        SignIn.plain.with("email", json(.string(email))).with("email_verified", "true").with("is_private_email", "true")
            .policy { $0.email.authoritativeDomains = ["icloud.com", "b", "c"] }
    }

    @Test(arguments: addresses)
    func `an email address is reported as written`(email: String) throws {
        let identity = try signIn(email).verify().identity
        #expect(identity.email.map { Array($0.utf8) } == Array(email.utf8))
        #expect((identity.isEmailVerified, identity.isPrivateEmail) == (true, true))
        #expect(identity.emailTrust != nil)
        #expect(signIn(email).policy { $0.requiredClaims = [ClaimName("email")] }.rejection == nil)
    }

    @Test(arguments: others)
    func `what is no address gets no trust`(email: String) throws {
        let verified = try signIn(email).verify()
        let identity = verified.identity
        #expect((identity.email, identity.isEmailVerified) == (nil, nil))
        #expect((identity.emailTrust, identity.isPrivateEmail) == (nil, nil))
        // The signed claims stay unchanged.
        #expect(String(decoding: verified.claimsText, as: UTF8.self) == signIn(email).claims.json)
        let required = signIn(email).policy { $0.requiredClaims = [ClaimName("email")] }
        #expect(required.rejection == .invalid("email"))
    }

    @Test func `an address that another claim holds is an address, too`() throws {
        let signIn = SignIn.plain.with("emails", #"["a@evil.example@icloud.com"]"#).policy {
            $0.identityClaims = [.email: ClaimPath("emails")]
            $0.requiredClaims = [ClaimName("iss")]
        }
        #expect(try signIn.verify().identity.email == nil)
        #expect(signIn.policy { $0.requiredClaims = [ClaimName("emails")] }.rejection == .invalid("emails"))
        #expect(try signIn.with("emails", #"["a@icloud.com","x"]"#).verify().identity.email == "a@icloud.com")
    }

    @Test func `booleans about no address are read all the same`() {
        #expect(signIn("a@b@c").with("email_verified", #""yes""#).rejection == .invalid("email_verified"))
        #expect(signIn("a@b@c").with("is_private_email", "5").rejection == .invalid("is_private_email"))
    }

    @Test func `an explanation says that it is none, without telling it`() {
        let check = signIn("a@evil.example@icloud.com").explanation[.identity]
        #expect(check.state == .passed)
        #expect(check.explanation.contains("email is not a single email address, so the identity has none"))
        #expect(check.found?.hasPrefix("25 characters, SHA-256 ") == true)
        let required = signIn("a@b@c").policy { $0.requiredClaims = [ClaimName("email")] }.explanation[.identity]
        #expect(required.refusal?.code == "claim_invalid")
        #expect(required.explanation.contains("required_claims of the provider op requires one"))
        #expect(signIn("a@b").explanation[.identity].found == nil)
    }

    /// The same rule, implemented scalar by scalar.
    private func isAddress(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return false }
        let hidden: Set<Unicode.GeneralCategory> = [
            .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator,
        ]
        let foreign = Set("\u{fe6b}\u{ff20}\u{3002}\u{ff0e}\u{ff61}".unicodeScalars)
        let specials = Set(#"()<>[]:;@\,""#.unicodeScalars)
        guard
            text.unicodeScalars.allSatisfy({ !hidden.contains($0.properties.generalCategory) && !foreign.contains($0) }
            ),
            parts[0].allSatisfy({ !specials.contains($0) })
        else { return false }
        return parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count) && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0 == "-" || !$0.isASCII || $0.properties.isAlphabetic || "0"..."9" ~= $0 }
        }
    }

    @Test func `mutants of addresses are judged as the rule says`() {
        var random = SplitMix64(seed: 20_261_123)
        let pieces = "ab.@-_,;:<>()[]\\\"' \t\u{0}\u{7f}\u{85}\u{a0}é例\u{200b}\u{202e}\u{ff20}\u{3002}0".unicodeScalars
        let seeds = (Self.addresses + Self.addresses + Self.addresses + Self.others).filter { $0.utf8.count < 80 }.map {
            Array($0.unicodeScalars)
        }
        var counts = (addresses: 0, others: 0)
        for _ in 0..<4000 {
            var scalars = seeds.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let index = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0 where index < scalars.count: scalars.remove(at: index)
                case 1 where index < scalars.count: scalars[index] = pieces.randomElement(using: &random)!
                default: scalars.insert(pieces.randomElement(using: &random)!, at: index)
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            let accepted = EmailAddress(text) != nil
            #expect(accepted == isAddress(text), "\(text.debugDescription)")
            if accepted {
                #expect(text.utf8.count { $0 == UInt8(ascii: "@") } == 1, "\(text.debugDescription)")
                #expect(!text.unicodeScalars.contains { $0.value < 0x21 || (0x7f...0xa0).contains($0.value) })
                counts.addresses += 1
            } else {
                counts.others += 1
            }
        }
        #expect(counts.addresses > 200 && counts.others > 200)
    }
}
