import JOSE
import OpenSSL
import Testing
import TestSupport

/// Reading a provider's response, well-formed or malicious.
@Suite struct JWKSetTests {
    private func error(_ json: String) -> JWKSet.ReadingError? { error(Array(json.utf8)) }

    private func error(_ json: [UInt8]) -> JWKSet.ReadingError? {
        do throws(JWKSet.ReadingError) {
            _ = try JWKSet(json)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "", "null", "[]", "\"keys\"", "{}", #"{"keys":null}"#, #"{"keys":{}}"#, #"{"keys":"x"}"#, #"{"keys":1}"#,
        #"{"Keys":[]}"#,
        #"{"keys":[]"#, #"{"keys":[]}x"#, #"{"keys":[],"keys":[]}"#, "<html>", "{\"keys\":[\"\u{0}\"]}",
    ])
    func `what is no object with an array of keys is malformed`(json: String) {
        #expect(error(json) == .malformed)
    }

    @Test func `a key twice in one set is one JWK with a duplicate member, or two JWKs`() {
        let key = json(TestKey.rsa.jwk())
        #expect(error("{\"keys\":[\(key),\(key)]}") == nil)
        #expect(error("{\"keys\":[{\"kty\":\"RSA\",\(key.dropFirst())]}") == .malformed)
    }

    @Test(arguments: [
        #"{"keys":[]}"#, #"{"keys":[null,1,"x",{},[],true]}"#, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
        #"{"keys":[{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}]}"#, #"{"keys":[{"kty":5,"n":"AQAB","e":"AQAB"}]}"#,
    ])
    func `a set without a usable key is refused`(json: String) {
        #expect(error(json) == .noUsableKey)
    }

    @Test func `a set of encryption keys, of private ones or of unsuitable ones has no usable key`() {
        for changes: [String: JSONTree?] in [
            ["use": .string("enc")], ["d": .string("AAAA")], ["n": .string("AQAB")], ["n": .string("!!")],
            ["n": .integer(1)],
            ["n": nil], ["e": nil], ["kty": nil], ["kty": .string("rsa")], ["kty": .string("oct")],
            ["k": .string("AAAA")],
        ] {
            #expect(error(jwkSet([TestKey.rsa.jwk(changes)])) == .noUsableKey, "\(changes)")
        }
    }

    @Test func `a bad key is passed over, and the others work`() throws {
        let bad: [JSONTree] = [
            .null, .integer(1), .string("x"), .array([]), .object([:]), .object(["kty": .string("AKP")]),
            .object(["kty": .string("oct"), "k": .string("AAAA")]), TestKey.p256.jwk(["crv": .string("P-257")]),
            TestKey.p256.jwk(["y": .string("AAAA")]), TestKey.ed25519.jwk(["crv": .string("X25519")]),
            TestKey.p384.jwk(["x": nil]), TestKey.otherRSA.jwk(["n": .string("####")]),
            TestKey.p521.jwk(["d": .string("AAAA")]),
        ]
        for index in 0...bad.count {
            var keys = bad
            keys.insert(TestKey.rsa.jwk(), at: index)
            let set = try JWKSet(jwkSet(keys))
            #expect(set.keys.filter(\.isUsable).map(\.keyID) == ["rsa"])
            #expect(try verdict(token(by: .rsa), keys) == nil)
        }
    }

    @Test func `a number beyond 64 bits is a fault of its key alone, and none outside of the keys`() throws {
        let keys = [#"{"kty":"EC","x":99999999999999999999}"#, json(TestKey.rsa.jwk())]
        for version in ["9223372036854775808", "1"] {
            let set = try JWKSet(Array(#"{"version":\#(version),"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
            #expect(set.keys.map(\.keyID) == ["rsa"])
        }
        let flaws = JWKSet.entries(of: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)).map(\.flaw)
        #expect(flaws == ["it has an integer beyond 64 bits", nil])
    }

    @Test func `a set has 1024 keys at most`() throws {
        let key = json(.object(["kty": .string("none")]))
        let good = json(TestKey.rsa.jwk())
        func set(_ count: Int) -> String {
            "{\"keys\":[" + (Array(repeating: key, count: count - 1) + [good]).joined(separator: ",") + "]}"
        }
        #expect(error(set(1024)) == nil)
        #expect(error(set(1025)) == .tooManyKeys)
        #expect(error(set(10_000)) == .tooManyKeys)
    }

    @Test func `unknown members of set and key are passed over`() throws {
        let key = json(
            TestKey.rsa.jwk(["issuer": .string("https://x"), "x5c": .array([.string("MII")]), "exp": .integer(5)]))
        #expect(error("{\"keys\":[\(key)],\"next\":{\"keys\":[]}}") == nil)
    }

    @Test func `kid, kty, crv, alg and use are told as they stand in the set`() throws {
        let set = try JWKSet(
            jwkSet([
                TestKey.rsa.jwk(["alg": .string("RS256"), "use": .string("sig")]), TestKey.p256.jwk(["kid": nil]),
                TestKey.ed448.jwk(["use": .string("enc")]),
            ]))
        #expect(set.keys.map(\.keyID) == ["rsa", nil, "ed448"])
        #expect(set.keys.map(\.keyType) == ["RSA", "EC", "OKP"])
        #expect(set.keys.map(\.curve) == [nil, "P-256", "Ed448"])
        #expect(set.keys.map(\.algorithm) == ["RS256", nil, nil])
        #expect(set.keys.map(\.use) == ["sig", nil, "enc"])
        #expect(set.keys.map(\.isUsable) == [true, true, false])
    }
}

/// Invalid or malicious key material.
@Suite struct JWKMaterialTests {
    private func octets(_ key: TestKey, _ name: String) throws -> [UInt8] {
        try #require(try key.signing.publicComponents().first { $0.name == name }).octets
    }

    /// The verdict on a valid token whose key has one component replaced. A second key keeps the set usable.
    private func verdict(_ key: TestKey, _ name: String, _ octets: [UInt8]) throws -> JWSError? {
        let beside = key.keyID == "rsa" ? TestKey.p256 : TestKey.rsa
        return try JOSETests.verdict(token(by: key), [key.jwk([name: .string(base64URL(octets))]), beside.jwk()])
    }

    @Test func `leading zero octets are tolerated, since Yahoo sends them`() throws {
        #expect(try verdict(.rsa, "n", [0] + octets(.rsa, "n")) == nil)
        #expect(try verdict(.rsa, "n", [0, 0, 0] + octets(.rsa, "n")) == nil)
        #expect(try verdict(.rsa, "e", [0, 1, 0, 1]) == nil)
        #expect(try verdict(.p256, "x", [0] + octets(.p256, "x")) == nil)
        #expect(try verdict(.p521, "y", [0] + octets(.p521, "y")) == nil)
    }

    @Test(arguments: [512, 1024, 2047])
    func `a small RSA key is there, but unsuitable`(bits: Int) throws {
        var modulus = [UInt8](repeating: 0xff, count: (bits + 7) / 8)
        modulus[0] = 0xff >> UInt8(modulus.count * 8 - bits)
        #expect(try verdict(.rsa, "n", modulus) == .keyUnsuitable)
    }

    @Test func `a huge RSA key is passed over, since its verify would be the attack`() throws {
        let modulus = [UInt8](repeating: 0xff, count: 2048)
        #expect(try verdict(.rsa, "n", modulus) == .keyNotFound)
        #expect(try verdict(.rsa, "n", [UInt8](repeating: 0xff, count: 41_525)) == .keyNotFound)
        #expect(try verdict(.rsa, "e", [UInt8](repeating: 0xff, count: 9)) == .keyNotFound)
        #expect(try verdict(.rsa, "e", octets(.rsa, "n")) == .keyNotFound)
    }

    @Test func `an RSA key that is no RSA key is unsuitable`() throws {
        var even = try octets(.rsa, "n")
        even[255] &= 0xfe
        #expect(try verdict(.rsa, "n", even) == .keyUnsuitable)
        #expect(try verdict(.rsa, "n", []) == .keyUnsuitable)
        for exponent: [UInt8] in [[], [0], [1], [2], [1, 0, 0]] {
            #expect(try verdict(.rsa, "e", exponent) == .keyUnsuitable)
        }
    }

    /// The modulus is not checked for soundness; such a key just verifies nothing.
    @Test func `a modulus of another shape is a key that verifies nothing`() throws {
        var modulus = try octets(.rsa, "n")
        modulus[100] ^= 1
        #expect(try verdict(.rsa, "n", modulus) == .signatureInvalid)
        #expect(try verdict(.rsa, "n", [UInt8](repeating: 0xff, count: 256)) == .signatureInvalid)
        #expect(try verdict(.rsa, "e", [3]) == .signatureInvalid)
    }

    @Test func `an EC point of the wrong length or off its curve is unsuitable`() throws {
        let x = try octets(.p256, "x")
        let y = try octets(.p256, "y")
        for wrong: [UInt8] in [
            [], [0], Array(x.dropFirst()), Array(x.dropLast()), [1] + x, x + [0], y, x.flippingBit(0),
            x.flippingBit(255),
            [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32), [4] + x + y, [2] + x,
        ] {
            #expect(try verdict(.p256, "x", wrong) == .keyUnsuitable, "\(wrong.count) octets")
        }
        for wrong: [UInt8] in [[], x, y.flippingBit(7), Array(y.dropFirst()), [UInt8](repeating: 0, count: 32)] {
            #expect(try verdict(.p256, "y", wrong) == .keyUnsuitable, "\(wrong.count) octets")
        }
    }

    @Test func `an EC key that names another curve than its point lies on is unsuitable`() throws {
        let key = TestKey.p256.jwk(["crv": .string("P-384")])
        let token = compactJWS(header: #"{"alg":"ES384","kid":"p256"}"#, payload: "{}", signedBy: .p256)
        #expect(try JOSETests.verdict(token, [key, TestKey.rsa.jwk()]) == .keyUnsuitable)
        #expect(try JOSETests.verdict(JOSETests.token(by: .p256), [key, TestKey.rsa.jwk()]) == .keyNotFound)
    }

    @Test func `an Edwards point of the wrong length or of small order is unsuitable`() throws {
        let x = try octets(.ed25519, "x")
        for wrong: [UInt8] in [
            [], Array(x.dropFirst()), x + [0], [0] + x, [UInt8](repeating: 0, count: 32),
            [1] + [UInt8](repeating: 0, count: 31),
            [UInt8](repeating: 0xff, count: 32),
        ] {
            #expect(try verdict(.ed25519, "x", wrong) == .keyUnsuitable, "\(wrong.count) octets")
        }
    }

    @Test(arguments: ["", "!", "AQ AB", "A", "AQA+"])
    func `a component that is no base64url makes a key unsuitable`(text: String) throws {
        for (key, name) in [(TestKey.rsa, "n"), (.rsa, "e"), (.p256, "x"), (.p256, "y"), (.ed25519, "x")] {
            let beside = key.keyID == "rsa" ? TestKey.p256 : TestKey.rsa
            let keys = [key.jwk([name: .string(text)]), beside.jwk()]
            #expect(try JOSETests.verdict(token(by: key), keys) == .keyUnsuitable, "\(key.keyID) \(name)")
        }
    }

    @Test func `a key without the members of its type is passed over`() throws {
        for (key, name) in [
            (TestKey.rsa, "n"), (.rsa, "e"), (.p256, "x"), (.p256, "y"), (.p256, "crv"), (.ed25519, "x"),
            (.ed25519, "crv"),
        ] {
            let beside = key.keyID == "rsa" ? TestKey.p256 : TestKey.rsa
            #expect(
                try JOSETests.verdict(token(by: key), [key.jwk([name: nil]), beside.jwk()]) == .keyNotFound,
                "\(key.keyID) \(name)")
        }
    }

    @Test func `kty decides what a key is, not the members it has`() throws {
        let both = TestKey.p256.jwk(["kty": .string("RSA")])
        #expect(try JOSETests.verdict(token(by: .p256), [both, TestKey.rsa.jwk()]) == .keyNotFound)
        let unknown = TestKey.p256.jwk(["kty": .string("AKP")])
        #expect(try JOSETests.verdict(token(by: .p256), [unknown, TestKey.rsa.jwk()]) == .keyNotFound)
        let absent = TestKey.p256.jwk(["kty": nil])
        #expect(try JOSETests.verdict(token(by: .p256), [absent, TestKey.rsa.jwk()]) == .keyNotFound)
    }

    @Test func `a symmetric key in a public set is never used`() throws {
        let secret = base64URL([UInt8](repeating: 1, count: 32))
        let oct = JSONTree.object(["kty": .string("oct"), "kid": .string("p256"), "k": .string(secret)])
        let header = #"{"alg":"HS256","kid":"p256"}"#
        let token = compactJWS(header: header, payload: "{}", signedBy: .p256)
        #expect(try JOSETests.verdict(token, [oct, TestKey.rsa.jwk()]) == .algorithmNotAllowed)
        #expect(try JOSETests.verdict(JOSETests.token(by: .p256), [oct, TestKey.rsa.jwk()]) == .keyNotFound)
    }

    @Test func `a private key in a public set is lost, hence never used`() throws {
        let lost = TestKey.p256.jwk(["d": .string("AAAA")])
        #expect(try JOSETests.verdict(token(by: .p256), [lost, TestKey.rsa.jwk()]) == .keyNotFound)
    }

    @Test func `a certificate beside the key is not looked at, and one instead of it is no key`() throws {
        let garbage: [String: JSONTree?] = ["x5c": .array([.string("garbage"), .integer(1)]), "x5t": .integer(5)]
        #expect(try JOSETests.verdict(token(by: .rsa), [TestKey.rsa.jwk(garbage)]) == nil)
        let only = TestKey.rsa.jwk(["n": nil, "e": nil, "x5c": .array([.string("MIIB")])])
        #expect(try JOSETests.verdict(token(by: .rsa), [only, TestKey.p256.jwk()]) == .keyNotFound)
    }
}
