import JOSE
import Testing
import TestSupport

/// C2SP Wycheproof: JWS, JWK Sets and attacks on both. Every case of every file is checked.
@Suite struct WycheproofJWS {
    /// Valid MACs: all symmetric algorithms are rejected.
    private static let symmetric: [String: Set<Int64>] = [
        "json_web_signature_test": [1, 352, 358, 359, 376, 377], "json_web_key_test": [2, 13, 14],
        "json_web_crypto_test": [1],
    ]
    /// Also a valid MAC, labeled valid although its payload contains `?`, which is not base64url (RFC 7515, section 2).
    private static let foreignCharacter: [String: Set<Int64>] = ["json_web_signature_test": [373]]
    /// Decryptable JWEs: this verifier handles signatures only.
    private static let encrypted: [String: Set<Int64>] = ["json_web_crypto_test": [50, 67]]
    /// Labeled invalid because of the modulus, which shows the fingerprint of a weak generator (ROCA, CVE-2017-15361).
    /// Moduli are not checked for it here: providers choose their own keys.
    private static let fingerprinted: [String: Set<Int64>] = ["json_web_key_test": [7], "json_web_crypto_test": [46]]

    @Test(arguments: [
        ("json_web_signature_test", 265, 20), ("json_web_key_test", 18, 2), ("json_web_crypto_test", 56, 1),
    ])
    func `each case is verified or refused as its label says`(file: String, cases: Int, verified: Int) throws {
        var counts = (verified: 0, refused: 0, stricter: 0, laxer: 0)
        for group in try Vectors.json("wycheproof/\(file).json").list("testGroups") {
            // Groups with only a private key are symmetric or for decryption.
            let key = try group["public"] ?? group.member("private")
            let keys = key["keys"]?.array ?? [key]
            for test in try group.list("tests") {
                let id = try test.number("tcId")
                let label = try test.text("result")
                let token = try #require(test["jws"] ?? test["jwe"])
                // One case uses the JSON serialization.
                let isVerified = try isVerified(token.string ?? json(token), keys)
                let stricter = [Self.symmetric, Self.foreignCharacter, Self.encrypted].contains {
                    $0[file]?.contains(id) == true
                }
                let laxer = Self.fingerprinted[file]?.contains(id) == true
                #expect(label == "valid" || label == "invalid")
                #expect(!stricter || label == "valid", "\(file) \(id) is not stricter than its label")
                #expect(!laxer || label == "invalid", "\(file) \(id) is not laxer than its label")
                let expected = (label == "valid" && !stricter) || laxer
                let comment = try test.text("comment")
                #expect(isVerified == expected, "\(file) \(id): \(comment)")
                if stricter { counts.stricter += 1 }
                if laxer { counts.laxer += 1 }
                if isVerified { counts.verified += 1 } else { counts.refused += 1 }
            }
        }
        #expect(counts.verified + counts.refused == cases)
        #expect(counts.verified == verified)
        try VectorResults(
            source: "Wycheproof \(file)", cases: cases, stricter: counts.stricter, laxer: counts.laxer
        ).record()
    }

    private func isVerified(_ token: String, _ keys: [JSONTree]) throws -> Bool {
        do {
            return try refusal(token, keys) == nil
        } catch JWKSet.ReadingError.noUsableKey {
            // The token must then also be rejected with the reader's own keys, whatever its alg.
            #expect(try refusal(token, [TestKey.p256.jwk(), TestKey.rsa.jwk()]) != nil)
            return false
        }
    }

    @Test func `every encrypted token is refused`() throws {
        let cases = try Vectors.json("wycheproof/jwe_compact_strings.json").list("jwe")
        for test in cases {
            let jwe = try test.text("jwe")
            let error = try refusal(jwe, [TestKey.p256.jwk()])
            let id = try test.number("tcId")
            let stops = jwe.count { $0 == "." }
            #expect(error == (stops == 4 ? .encrypted : .malformed(.serialization)), "\(id)")
        }
        #expect(cases.count == 93)
        try VectorResults(source: "Wycheproof compact JWEs", cases: cases.count).record()
    }
}
