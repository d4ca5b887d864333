import JOSE
import OpenSSL
import Testing
import TestSupport

/// C2SP Wycheproof: signature primitives, complete files. Cases that are merely `acceptable` (a missing NULL) are
/// rejected.
@Suite struct WycheproofPrimitives {
    private static let files: [(String, SignatureScheme, valid: Int, cases: Int)] = [
        ("ecdsa_secp256r1_sha256_p1363_test", .ecdsa(.p256), 173, 262),
        ("ecdsa_secp384r1_sha384_p1363_test", .ecdsa(.p384), 193, 280), ("ed25519_test", .edwards(.ed25519), 88, 151),
        ("rsa_pss_2048_sha256_mgf1_32_test", .rsaPSS(.bits256), 63, 108),
        ("rsa_pss_2048_sha384_mgf1_48_test", .rsaPSS(.bits384), 95, 141),
        ("rsa_pss_4096_sha512_mgf1_64_test", .rsaPSS(.bits512), 132, 179),
        ("rsa_signature_2048_sha256_test", .rsaPKCS1(.bits256), 9, 259),
        ("rsa_signature_2048_sha384_test", .rsaPKCS1(.bits384), 7, 258),
        ("rsa_signature_2048_sha512_test", .rsaPKCS1(.bits512), 8, 259),
        ("rsa_signature_4096_sha256_test", .rsaPKCS1(.bits256), 7, 258),
    ]

    private func key(_ group: JSONTree, _ scheme: SignatureScheme) throws -> PublicKey {
        let key = try group.member("publicKey")
        func number(_ name: String) throws -> [UInt8] {
            let digits = try key.text(name)
            return octets(hex: digits.count.isMultiple(of: 2) ? digits : "0" + digits)
        }
        switch scheme {
        case .rsaPKCS1, .rsaPSS:
            return try PublicKey(.rsa(modulus: number("modulus"), exponent: number("publicExponent")))
        case .ecdsa(let curve):
            func coordinate(_ name: String) throws -> [UInt8] {
                let digits = try number(name)
                return [UInt8](repeating: 0, count: max(0, curve.coordinateLength - digits.count)) + digits
            }
            return try PublicKey(.ellipticCurve(curve, x: coordinate("wx"), y: coordinate("wy")))
        case .edwards(let curve): return try PublicKey(.edwards(curve, point: number("pk")))
        }
    }

    @Test(arguments: files.indices)
    func `each signature is good or bad as its label says`(index: Int) throws {
        let (file, scheme, valid, cases) = Self.files[index]
        let checker = try SignatureChecker()
        var counts = (good: 0, bad: 0)
        for group in try Vectors.json("wycheproof/primitives/\(file).json").list("testGroups") {
            let key = try key(group, scheme)
            for test in try group.list("tests") {
                let message = octets(hex: try test.text("msg"))
                let signature = octets(hex: try test.text("sig"))
                let isGood = try checker.isValid(signature.span, of: message.span, by: key, scheme)
                let id = try test.number("tcId")
                #expect(try isGood == (test.text("result") == "valid"), "\(file) \(id)")
                if isGood { counts.good += 1 } else { counts.bad += 1 }
            }
        }
        #expect(counts.good == valid)
        #expect(counts.good + counts.bad == cases)
        try VectorResults(source: "Wycheproof \(file)", cases: cases).record()
    }

    @Test func `the same keys are read from their JWKs`() throws {
        var keys = 0
        for (file, _, _, _) in Self.files {
            for group in try Vectors.json("wycheproof/primitives/\(file).json").list("testGroups") {
                guard let jwk = group["publicKeyJwk"] ?? group["keyJwk"] else { continue }
                #expect(try JWKSet(jwkSet([jwk])).keys.map(\.isUsable) == [true], "\(file)")
                keys += 1
            }
        }
        #expect(keys == 286)
        try VectorResults(source: "Wycheproof keys as JWK", cases: keys).record()
    }

    /// No supported algorithm uses it, and its points are not on P-256.
    @Test func `secp256k1 is refused, as itself and as P-256`() throws {
        var cases = 0
        for group in try Vectors.json("wycheproof/primitives/ecdsa_secp256k1_sha256_p1363_test.json").list("testGroups")
        {
            #expect(throws: KeyMaterialError.malformed) { try key(group, .ecdsa(.p256)) }
            cases += try group.list("tests").count
            guard let jwk = group["publicKeyJwk"] else { continue }
            #expect(throws: JWKSet.ReadingError.noUsableKey) { try JWKSet(jwkSet([jwk])) }
        }
        #expect(cases == 252)
        try VectorResults(source: "Wycheproof ecdsa_secp256k1_sha256_p1363_test", cases: cases).record()
    }
}
