import IDToken
import SignInFixtures
import Testing
import TestSupport

@Suite struct TokenHashesTests {
    /// The left half of each hash of `ya29.access`, computed independently.
    private static let halves: [(String, TestKey, String)] = [
        ("RS256", .rsa, "sqOO4d8-j4fA2XFTQcfEtQ"), ("PS256", .rsa, "sqOO4d8-j4fA2XFTQcfEtQ"),
        ("ES256", .p256, "sqOO4d8-j4fA2XFTQcfEtQ"), ("RS384", .rsa, "_7mv0GIMYxgXu6OMO1awYxZAbW24rm1k"),
        ("PS384", .rsa, "_7mv0GIMYxgXu6OMO1awYxZAbW24rm1k"), ("ES384", .p384, "_7mv0GIMYxgXu6OMO1awYxZAbW24rm1k"),
        ("RS512", .rsa, "hAOSQe66S52MRM4aarwRb2TFi2npnJy4JrRym0zHBuc"),
        ("PS512", .rsa, "hAOSQe66S52MRM4aarwRb2TFi2npnJy4JrRym0zHBuc"),
        ("ES512", .p521, "hAOSQe66S52MRM4aarwRb2TFi2npnJy4JrRym0zHBuc"),
        ("EdDSA", .ed25519, "hAOSQe66S52MRM4aarwRb2TFi2npnJy4JrRym0zHBuc"),
        ("Ed25519", .ed25519, "hAOSQe66S52MRM4aarwRb2TFi2npnJy4JrRym0zHBuc"),
        ("EdDSA", .ed448, "JqVQF1RU5RNRIbod9TY31fEs6fpxzp1yIzio9AXvRZLc8NAyVuTZdR3JDk9HvDyjy0JvoW7209wm"),
        ("Ed448", .ed448, "JqVQF1RU5RNRIbod9TY31fEs6fpxzp1yIzio9AXvRZLc8NAyVuTZdR3JDk9HvDyjy0JvoW7209wm"),
    ]

    private func signIn(_ alg: String, _ key: TestKey) -> SignIn {
        var signIn = SignIn.plain
        signIn.key = key
        signIn.keys = [key]
        signIn.algorithm = alg
        return signIn
    }

    @Test(arguments: halves)
    func `at_hash and c_hash are by the hash of the token's algorithm`(alg: String, key: TestKey, half: String) {
        let signIn = signIn(alg, key)
        let access = signIn.with("at_hash", "\"\(half)\"").expecting { $0.accessToken = "ya29.access" }
        let code = signIn.with("c_hash", "\"\(half)\"").expecting { $0.code = "ya29.access" }
        #expect(access.rejection == nil)
        #expect(code.rejection == nil)
        #expect(access.expecting { $0.accessToken = "ya29.acces" }.rejection == .atHashMismatch)
        #expect(code.expecting { $0.code = "ya29.accesS" }.rejection == .cHashMismatch)
        for other in Set(Self.halves.map(\.2)) where other != half {
            #expect(access.with("at_hash", "\"\(other)\"").rejection == .atHashMismatch)
            #expect(code.with("c_hash", "\"\(other)\"").rejection == .cHashMismatch)
        }
    }

    @Test func `a code may be checked only where there is a c_hash`() {
        let signIn = SignIn.plain.expecting {
            $0.code = "ya29.access"
            $0.isCodeHashOptional = true
        }
        #expect(signIn.rejection == nil)
        #expect(signIn.with("c_hash", #""sqOO4d8-j4fA2XFTQcfEtQ""#).rejection == nil)
        #expect(signIn.with("c_hash", #""sqOO4d8-j4fA2XFTQcfEtA""#).rejection == .cHashMismatch)
        #expect(signIn.with("c_hash", "null").rejection == .invalid("c_hash"))
    }

    /// OpenID Connect Core 1.0, appendices A.4 and A.6.
    @Test func `the examples of the specification`() {
        let signIn = signIn("RS256", .rsa).with("at_hash", #""77QmUPtjPfzWtF2AnpK9RQ""#).with(
            "c_hash", #""LDktKdoQak3Pk0cnXxCltA""#)
        #expect(
            signIn.expecting {
                $0.accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
                $0.code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"
            }.rejection == nil)
    }

    @Test(arguments: [
        "sqOO4d8-j4fA2XFTQcfEtq", "sqOO4d8-j4fA2XFTQcfEt", "sqOO4d8-j4fA2XFTQcfEtQ==", "sqOO4d8+j4fA2XFTQcfEtQ",
        "SqOO4d8-j4fA2XFTQcfEtQ", "", "sqOO4d8-j4fA2XFTQcfEtQ ",
        // The whole hash, and its right half.
        "sqOO4d8-j4fA2XFTQcfEtTq6CxSy6XNQHIq5ESPn6mM",
    ])
    func `a hash that differs in one character is another`(claimed: String) {
        let signIn = SignIn.plain.with("at_hash", "\"\(claimed)\"").with("c_hash", "\"\(claimed)\"")
        #expect(signIn.expecting { $0.accessToken = "ya29.access" }.rejection == .atHashMismatch)
        #expect(signIn.expecting { $0.code = "ya29.access" }.rejection == .cHashMismatch)
    }

    @Test func `a token without the hash that is asked for is refused`() {
        #expect(SignIn.plain.expecting { $0.accessToken = "ya29.access" }.rejection == .atHashMissing)
        #expect(SignIn.plain.expecting { $0.code = "ya29.access" }.rejection == .cHashMissing)
        let onlyCode = SignIn.plain.with("c_hash", #""sqOO4d8-j4fA2XFTQcfEtQ""#)
        #expect(onlyCode.expecting { $0.accessToken = "ya29.access" }.rejection == .atHashMissing)
    }

    @Test func `a hash that nobody asks for is not looked at`() {
        #expect(SignIn.plain.with("at_hash", #""x""#).with("c_hash", "5").rejection == nil)
    }

    @Test(arguments: ["5", "null", "true", "[]", "{}"])
    func `a hash that is no string is invalid where it is asked for`(json: String) {
        #expect(
            SignIn.plain.with("at_hash", json).expecting { $0.accessToken = "ya29.access" }.rejection
                == .invalid("at_hash"))
        #expect(SignIn.plain.with("c_hash", json).expecting { $0.code = "ya29.access" }.rejection == .invalid("c_hash"))
    }

    @Test func `an empty access token or code has a hash like any other`() {
        // The left half of the SHA-256 of the empty string.
        let signIn = SignIn.plain.with("at_hash", #""47DEQpj8HBSa-_TImW-5JA""#).with(
            "c_hash", #""47DEQpj8HBSa-_TImW-5JA""#)
        #expect(signIn.expecting { $0.accessToken = "" }.rejection == nil)
        #expect(signIn.expecting { $0.code = "" }.rejection == nil)
        #expect(signIn.expecting { $0.code = " " }.rejection == .cHashMismatch)
    }
}
