import JOSE
import OpenSSL
import Testing
import TestSupport

/// Which keys of a set are tried for a token.
@Suite struct KeySelectionTests {
    @Test func `a kid chooses among keys`() throws {
        let keys = [TestKey.otherRSA, .rsa, .p256, .ed25519].map { $0.jwk() }
        for key in [TestKey.otherRSA, .rsa, .p256, .ed25519] { #expect(try verdict(token(by: key), keys) == nil) }
        #expect(try verdict(token("RS256", kid: "other-rsa", by: .rsa), keys) == .signatureInvalid)
    }

    @Test(arguments: [
        "", " ", "RSA", "Rsa", "rsa ", " rsa", "rs", "rsaa", "rsa\n", "../../../../dev/null", "/dev/null",
        "file:///etc/passwd",
        "..\\..\\", "%2e%2e%2f", "rsa'--", "*",
    ])
    func `a kid is compared byte for byte`(kid: String) throws {
        #expect(try verdict(token("RS256", kid: kid, by: .rsa), [TestKey.rsa.jwk()]) == .keyNotFound)
    }

    /// Swift compares strings by canonical equivalence; `kid`s must be compared byte for byte.
    @Test(arguments: [
        ("\u{e9}", "e\u{301}"), ("e\u{301}", "\u{e9}"), ("K", "\u{212a}"), ("\u{c5}", "\u{212b}"), (";", "\u{37e}"),
    ])
    func `a kid in another Unicode form is another kid`(inSet: String, inToken: String) throws {
        let keys = [TestKey.rsa.jwk(["kid": .string(inSet)])]
        #expect(try verdict(token("RS256", kid: inSet, by: .rsa), keys) == nil)
        #expect(try verdict(token("RS256", kid: inToken, by: .rsa), keys) == .keyNotFound)
    }

    @Test func `a kid of a megabyte is only an unknown one`() throws {
        let kid = String(repeating: "k", count: 1 << 20)
        #expect(try verdict(token("RS256", kid: kid, by: .rsa), [TestKey.rsa.jwk()]) == .keyNotFound)
    }

    @Test func `an empty kid is a kid`() throws {
        let keys = [TestKey.otherRSA.jwk(), TestKey.rsa.jwk(["kid": .string("")])]
        #expect(try verdict(token("RS256", kid: "", by: .rsa), keys) == nil)
    }

    @Test func `without a kid in the token, the one key that fits is used`() throws {
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), [TestKey.rsa.jwk()]) == nil)
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), [TestKey.p256.jwk(), TestKey.rsa.jwk()]) == nil)
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), [TestKey.rsa.jwk(["kid": nil])]) == nil)
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), [TestKey.otherRSA.jwk()]) == .signatureInvalid)
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), [TestKey.p256.jwk()]) == .keyNotFound)
    }

    @Test func `a kid in the token is not met by a key that has none`() throws {
        #expect(try verdict(token(by: .rsa), [TestKey.rsa.jwk(["kid": nil])]) == .keyNotFound)
        #expect(try verdict(token(by: .rsa), [TestKey.rsa.jwk(["kid": .integer(1)])]) == .keyNotFound)
    }

    /// RFC 7517, 4.5 allows it.
    @Test func `two keys of different types may share a kid`() throws {
        let keys = [TestKey.rsa.jwk(["kid": .string("same")]), TestKey.p256.jwk(["kid": .string("same")])]
        for keys in [keys, keys.reversed()] {
            #expect(try verdict(token("RS256", kid: "same", by: .rsa), keys) == nil)
            #expect(try verdict(token("ES256", kid: "same", by: .p256), keys) == nil)
            #expect(try verdict(token("ES256", kid: "same", by: .otherP256), keys) == .signatureInvalid)
            #expect(try verdict(token("ES384", kid: "same", by: .p384), keys) == .keyNotFound)
        }
    }

    @Test func `two keys of one type that share a kid are both tried`() throws {
        let keys = [TestKey.rsa.jwk(["kid": .string("same")]), TestKey.otherRSA.jwk(["kid": .string("same")])]
        #expect(try verdict(token("RS256", kid: "same", by: .rsa), keys) == nil)
        #expect(try verdict(token("RS256", kid: "same", by: .otherRSA), keys) == nil)
    }

    @Test(arguments: [nil, "same"])
    func `four keys are tried for a token and no fifth`(kid: String?) throws {
        let wrong = (0..<4).map { TestKey("\($0)", "ES256", .ellipticCurve(.p256)) }
        func jwk(_ key: TestKey) -> JSONTree { key.jwk(["kid": kid.map(JSONTree.string)]) }
        let good = token("ES256", kid: kid, by: .p256)
        for before in 0...4 {
            let keys = wrong.prefix(before).map(jwk) + [jwk(.p256)] + wrong.suffix(4 - before).map(jwk)
            #expect(try verdict(good, keys) == (before < 4 ? nil : .signatureInvalid), "\(before) keys before it")
        }
        #expect(JWSVerifier.maximumKeysTried == 4)
    }

    @Test func `a key that can't verify anything does not count as tried`() throws {
        let unsuitable = (0..<8).map { _ in TestKey.p256.jwk(["kid": nil, "y": .string(base64URL([1] as [UInt8]))]) }
        let otherCurve = (0..<8).map { _ in TestKey.p384.jwk(["kid": nil]) }
        let keys = unsuitable + otherCurve + [TestKey.p256.jwk(["kid": nil])]
        #expect(try verdict(token("ES256", kid: nil, by: .p256), keys) == nil)
    }

    @Test func `two hundred keys with one kid cost four signatures`() throws {
        let keys =
            (0..<200).map { _ in TestKey.otherP256.jwk(["kid": .string("same")]) } + [
                TestKey.p256.jwk(["kid": .string("same")])
            ]
        #expect(try verdict(token("ES256", kid: "same", by: .p256), keys) == .signatureInvalid)
    }
}
