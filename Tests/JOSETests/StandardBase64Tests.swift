import JOSE
import Testing
import TestSupport

/// Key sets with numbers in padded base64 instead of base64url, as some providers publish them.
@Suite struct StandardBase64Tests {
    private static let keys: [TestKey] = [.rsa, .p256, .p384, .p521, .ed25519]

    /// The same key with its numbers encoded by `write`.
    private func key(_ key: TestKey, _ write: (String) -> String) throws -> JSONTree {
        let members = try #require(key.jwk().object)
        let numbers = ["n", "e", "x", "y"].compactMap { name in
            members[name]?.string.map { (name, JSONTree?.some(.string(write($0)))) }
        }
        return key.jwk(Dictionary(numbers) { first, _ in first })
    }

    private static func standard(_ text: String) -> String {
        let characters = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(characters) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }

    /// Uses both alphabets alternately for the two characters in which they differ, without padding.
    private static func mixed(_ text: String) -> String {
        String(
            text.enumerated().map {
                $0.offset % 2 == 0 ? $0.element : $0.element == "-" ? "+" : $0.element == "_" ? "/" : $0.element
            })
    }

    @Test(arguments: keys.indices)
    func `the number is the same, and so is the key`(index: Int) throws {
        let plain = Self.keys[index]
        let token = try CompactJWS(Array(compactJWS(payload: "{}", signedBy: plain).utf8)[...])
        for write in [Self.standard, Self.mixed, { $0 + "==" }] {
            let set = try JWKSet(jwkSet([try key(plain, write)]))
            #expect(set.keys.first?.thumbprint == (try JWKSet(jwkSet([plain.jwk()])).keys.first?.thumbprint))
            #expect(throws: Never.self) { try JWSVerifier().verify(token, with: set, allowing: .all) }
            // As archived on disk.
            #expect(try JWKSet(set.json).fingerprint == set.fingerprint)
        }
    }

    @Test(arguments: ["A===", "=AQAB", "AQ=AB", "A QAB", "AQAB\n", "AQ*B", "A", "AQABé", "===="])
    func `what is neither is no number`(text: String) throws {
        let set = jwkSet([TestKey.rsa.jwk(["n": .string(text)]), TestKey.p256.jwk()])
        #expect(try JWKSet(set).keys.map(\.isUsable) == [false, true])
        #expect(JWKSet.entries(of: set).first?.flaw == "its n is not base64url")
    }

    @Test func `a token stays strict`() throws {
        let token = compactJWS(payload: "{}", signedBy: .rsa)
        let parts = token.split(separator: ".").map(String.init)
        #expect(throws: JWSError.malformed(.signature)) {
            try CompactJWS(Array((parts[0] + "." + parts[1] + "." + Self.standard(parts[2])).utf8)[...])
        }
        #expect(throws: JWSError.malformed(.payload)) {
            try CompactJWS(Array((parts[0] + "." + parts[1] + "=." + parts[2]).utf8)[...])
        }
    }

    @Test(
        arguments: [
            (["x": JSONTree.string("AAAA")], "it is not a point on P-256, or it is an unsafe point"),
            (["y": .integer(5)], "its y is not base64url"),
            (["y": .string("!"), "x": .string("?")], "its x, y are not base64url"),
        ] as [([String: JSONTree], String)])
    func `what is wrong with a key's numbers is told`(changes: [String: JSONTree], flaw: String) {
        let set = jwkSet([TestKey.p256.jwk(changes.mapValues { $0 })])
        #expect(JWKSet.entries(of: set).map(\.flaw) == [flaw])
    }
}
