import JOSE
import Testing
import TestSupport

/// A token's `alg` must agree with the key's type, `alg` and `use`.
@Suite struct AlgorithmAgreementTests {
    @Test(arguments: [
        ("ES256", "rsa"), ("RS256", "p256"), ("EdDSA", "p256"), ("ES256", "ed25519"), ("PS256", "p256"),
        ("RS256", "ed25519"),
        ("EdDSA", "rsa"),
    ])
    func `an alg of another key type finds no key`(alg: String, kid: String) throws {
        let keys = [TestKey.rsa, .p256, .ed25519]
        let signer = try #require(keys.first { $0.keyID == kid })
        let token = compactJWS(header: #"{"alg":"\#(alg)","kid":"\#(kid)"}"#, payload: "{}", signedBy: signer)
        #expect(try verdict(token, keys.map { $0.jwk() }) == .keyNotFound)
    }

    @Test(arguments: [
        ("ES256", "p384"), ("ES384", "p256"), ("ES512", "p384"), ("ES256", "p521"), ("ES384", "p521"),
        ("ES512", "p256"),
    ])
    func `an alg of another curve finds no key`(alg: String, kid: String) throws {
        let keys = [TestKey.p256, .p384, .p521]
        let signer = try #require(keys.first { $0.keyID == kid })
        let token = compactJWS(header: #"{"alg":"\#(alg)","kid":"\#(kid)"}"#, payload: "{}", signedBy: signer)
        #expect(try verdict(token, keys.map { $0.jwk() }) == .keyNotFound)
    }

    @Test(arguments: [
        ("RS256", "RS256", true), ("RS256", "RS384", false), ("RS256", "PS256", false), ("PS256", "RS256", false),
        ("PS256", "PS256", true), ("RS512", "RS256", false), ("RS256", "RSA256", false), ("RS256", "rs256", false),
        ("RS256", "", false), ("RS256", "none", false), ("RS256", "HS256", false), ("RS256", "RSA-OAEP", false),
        ("RS256", "ES256", false), ("RS256", "RS256 ", false),
    ])
    func `a key that names an algorithm verifies no other`(alg: String, ofKey: String, verifies: Bool) throws {
        let token = token(alg, kid: "rsa", by: .rsa)
        let keys = [TestKey.rsa.jwk(["alg": .string(ofKey)]), TestKey.p256.jwk()]
        #expect(try verdict(token, keys) == (verifies ? nil : .keyNotFound))
    }

    @Test(arguments: ["ES521", "ES224", "RSA256", "ES256K", "💥"])
    func `an algorithm that nobody registered spoils its own key only`(ofKey: String) throws {
        let keys = [TestKey.p256.jwk(["alg": .string(ofKey)]), TestKey.otherP256.jwk(), TestKey.rsa.jwk()]
        #expect(try verdict(token(by: .p256), keys) == .keyNotFound)
        #expect(try verdict(token(by: .otherP256), keys) == nil)
        #expect(try verdict(token(by: .rsa), keys) == nil)
    }

    @Test(arguments: [JSONTree.integer(1), .null, .bool(true), .array([.string("RS256")]), .object([:])])
    func `an alg of a key that is no string fits nothing`(ofKey: JSONTree) throws {
        #expect(try verdict(token(by: .rsa), [TestKey.rsa.jwk(["alg": ofKey]), TestKey.p256.jwk()]) == .keyNotFound)
    }

    /// RFC 9864 defines a name for each curve, in addition to EdDSA, which means either.
    @Test(arguments: [
        ("EdDSA", nil, true), ("EdDSA", "EdDSA", true), ("EdDSA", "Ed25519", true), ("Ed25519", nil, true),
        ("Ed25519", "EdDSA", true), ("Ed25519", "Ed25519", true), ("EdDSA", "Ed448", false),
        ("Ed25519", "Ed448", false),
        ("EdDSA", "ES256", false), ("Ed448", nil, false), ("Ed448", "EdDSA", false), ("Ed448", "Ed448", false),
    ])
    func `the names of Ed25519`(alg: String, ofKey: String?, verifies: Bool) throws {
        let token = token(alg, kid: "ed25519", by: .ed25519, as: "Ed25519")
        let keys = [TestKey.ed25519.jwk(["alg": ofKey.map(JSONTree.string)]), TestKey.rsa.jwk()]
        #expect(try verdict(token, keys) == (verifies ? nil : .keyNotFound))
    }

    @Test(arguments: [
        ("EdDSA", nil, true), ("EdDSA", "EdDSA", true), ("EdDSA", "Ed448", true), ("Ed448", nil, true),
        ("Ed448", "EdDSA", true),
        ("Ed448", "Ed448", true), ("Ed25519", nil, false), ("Ed25519", "EdDSA", false), ("Ed448", "Ed25519", false),
        ("EdDSA", "Ed25519", false),
    ])
    func `the names of Ed448`(alg: String, ofKey: String?, verifies: Bool) throws {
        let token = token(alg, kid: "ed448", by: .ed448, as: "Ed448")
        let keys = [TestKey.ed448.jwk(["alg": ofKey.map(JSONTree.string)]), TestKey.rsa.jwk()]
        #expect(try verdict(token, keys) == (verifies ? nil : .keyNotFound))
    }

    @Test func `EdDSA without a kid finds the curve that signed`() throws {
        let keys = [TestKey.ed448.jwk(), TestKey.otherEd25519.jwk(), TestKey.ed25519.jwk()]
        #expect(try verdict(token("EdDSA", kid: nil, by: .ed25519), keys) == nil)
        #expect(try verdict(token("EdDSA", kid: nil, by: .ed448), keys) == nil)
        #expect(try verdict(token("Ed25519", kid: nil, by: .ed25519), keys) == nil)
    }

    @Test func `a name is allowed by that name only`() throws {
        let keys = [TestKey.ed25519.jwk()]
        #expect(try verdict(token("EdDSA", kid: nil, by: .ed25519), keys, allowing: [.ed25519]) == .algorithmNotAllowed)
        #expect(try verdict(token("Ed25519", kid: nil, by: .ed25519), keys, allowing: [.edDSA]) == .algorithmNotAllowed)
    }

    @Test(arguments: [
        ("use", JSONTree.string("sig"), true), ("use", .string("enc"), false), ("use", .string("SIG"), false),
        ("use", .string(""), false), ("use", .integer(1), false), ("use", .null, false),
        ("use", .array([.string("sig")]), false),
        ("key_ops", .array([.string("verify")]), true),
        ("key_ops", .array([.string("sign"), .string("verify")]), true),
        ("key_ops", .array([.string("sign")]), false), ("key_ops", .array([.string("encrypt")]), false),
        ("key_ops", .array([]), false), ("key_ops", .array([.string("VERIFY")]), false),
        ("key_ops", .string("verify"), false),
        ("key_ops", .null, false), ("key_ops", .array([.integer(1)]), false),
    ])
    func `a key for something else than verifying is no key`(member: String, value: JSONTree, verifies: Bool) throws {
        let keys = [TestKey.rsa.jwk([member: value]), TestKey.p256.jwk()]
        #expect(try verdict(token(by: .rsa), keys) == (verifies ? nil : .keyNotFound))
        #expect(try verdict(token("RS256", kid: nil, by: .rsa), keys) == (verifies ? nil : .keyNotFound))
    }

    @Test func `use and key_ops both have to fit`() throws {
        let both: [(String, String)] = [("sig", "encrypt"), ("enc", "verify")]
        for (use, operation) in both {
            let key = TestKey.rsa.jwk(["use": .string(use), "key_ops": .array([.string(operation)])])
            #expect(try verdict(token(by: .rsa), [key, TestKey.p256.jwk()]) == .keyNotFound)
        }
    }
}
