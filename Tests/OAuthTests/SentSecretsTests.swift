@testable import OAuth
import OpenSSL
import Testing

@Suite struct SentSecretsTests {
    private func removed(_ text: String, _ secrets: String..., maximumLength: Int = 300) throws -> String? {
        var octets: [SecretBytes] = []
        for secret in secrets { octets.append(try SecretBytes(secret.utf8.span)) }
        return SentSecrets(octets).removed(from: text, maximumLength: maximumLength)
    }

    @Test(arguments: [
        ("The code is expired.", "The code is expired."),
        ("AADSTS7000222: The keys are expired.\r\nTrace ID: 1\r\n", "AADSTS7000222: The keys are expired. Trace ID: 1"),
        ("\u{1b}[31mred\u{0} é \u{202e}x", "[31mred x"),
        ("", nil), (" \n", nil), ("é", nil),
    ])
    func `a text becomes one line of printable ASCII`(text: String, shown: String?) throws {
        #expect(try removed(text, "another secret") == shown)
    }

    @Test(arguments: [
        ("no grant for SplxlOBeZQQYbYS6WxSbIA", "no grant for [removed]"),
        ("code=SplxlOBeZQQYbYS6WxSbIA, refused", "[removed] refused"),
        ("code 'splxlobezqqybys6wxsbia' unknown", "code [removed] unknown"),
        // A part of eight characters, and of seven.
        ("begins with SplxlOBe...", "begins with [removed]"),
        ("ends with WxSbIA", "ends with WxSbIA"),
        ("SplxlOBeZQQYbYS6WxSbIA", "[removed]"),
        ("client p q refused", "client p q refused"),
        ("secret abc! refused", "secret [removed] refused"),
    ])
    func `a word with a part of a secret is removed`(text: String, shown: String) throws {
        #expect(try removed(text, "SplxlOBeZQQYbYS6WxSbIA", "abc!", "") == shown)
    }

    @Test func `a secret with spaces is removed`() throws {
        #expect(try removed("is my own words good?", "my own words") == "is [removed] [removed] [removed] good?")
    }

    @Test func `a long text is cut after its secrets were removed`() throws {
        #expect(try removed("abcdefghijkl m", "ghijklmno", maximumLength: 10) == "abcdefg...")
        let long = String(repeating: "x ", count: 1000)
        #expect(try #require(try removed(long, "secret")).utf8.count == 300)
    }
}
