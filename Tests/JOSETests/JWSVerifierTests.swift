import JOSE
import Testing
import TestSupport

/// Signature verification with the one matching key.
@Suite struct JWSVerifierTests {
    private static let keys: [(String, TestKey)] = [
        ("RS256", .rsa), ("RS384", .rsa), ("RS512", .rsa), ("PS256", .rsa), ("PS384", .rsa), ("PS512", .rsa),
        ("ES256", .p256), ("ES384", .p384), ("ES512", .p521), ("EdDSA", .ed25519), ("EdDSA", .ed448),
        ("Ed25519", .ed25519), ("Ed448", .ed448),
    ]

    @Test(arguments: keys)
    func `every algorithm verifies what its key has signed`(alg: String, key: TestKey) throws {
        let verifier = try JWSVerifier()
        let keys = try JWKSet(jwkSet([key.jwk()]))
        let jws = try CompactJWS(token(alg, kid: key.keyID, by: key))
        let algorithm = try #require(SignatureAlgorithm(rawValue: alg))
        let verified = try verifier.verify(jws, with: keys, allowing: [algorithm])
        #expect(verified.algorithm == algorithm)
        #expect(verified.payload == Array("{}".utf8))
        #expect(verified.header.keyID == key.keyID)
    }

    @Test func `EdDSA can be Ed25519 alone`() throws {
        let verifier = try JWSVerifier()
        func algorithm(_ alg: String, _ key: TestKey) throws -> SignatureAlgorithm {
            let jws = try CompactJWS(token(alg, kid: key.keyID, by: key))
            let keys = try JWKSet(jwkSet([TestKey.ed25519.jwk(), TestKey.ed448.jwk()]))
            return try verifier.verify(jws, with: keys, allowing: SignatureAlgorithms.all.withoutEd448).algorithm
        }
        #expect(try algorithm("EdDSA", .ed25519) == .ed25519)
        #expect(try algorithm("Ed25519", .ed25519) == .ed25519)
        #expect(throws: JWSError.keyNotFound) { try algorithm("EdDSA", .ed448) }
        #expect(throws: JWSError.algorithmNotAllowed) { try algorithm("Ed448", .ed448) }
    }

    @Test func `there is no algorithm that is not tested here`() {
        #expect(Set(Self.keys.map(\.0)) == Set(SignatureAlgorithm.allCases.map(\.rawValue)))
    }

    @Test(arguments: keys)
    func `one bit of header, payload or signature decides`(alg: String, key: TestKey) throws {
        let parts = token(alg, kid: key.keyID, by: key).split(separator: ".").map(String.init)
        #expect(try verdict(parts.joined(separator: "."), [key.jwk()]) == nil)
        let otherHeader = base64URL(#"{"alg":"\#(alg)","kid":"\#(key.keyID)" }"#)
        #expect(try verdict("\(otherHeader).\(parts[1]).\(parts[2])", [key.jwk()]) == .signatureInvalid)
        #expect(try verdict("\(parts[0]).\(base64URL("{ }")).\(parts[2])", [key.jwk()]) == .signatureInvalid)
        #expect(try verdict("\(parts[0])..\(parts[2])", [key.jwk()]) == .signatureInvalid)
        #expect(try verdict("\(parts[0]).\(parts[1]).", [key.jwk()]) == .signatureInvalid)
        var signature = key.sign(Array("\(parts[0]).\(parts[1])".utf8), as: alg)
        signature[signature.count / 2] ^= 1
        #expect(try verdict("\(parts[0]).\(parts[1]).\(base64URL(signature))", [key.jwk()]) == .signatureInvalid)
    }

    @Test func `a signature of another token by the same key is refused`() throws {
        let first = compactJWS(payload: #"{"sub":"a"}"#, signedBy: .p256).split(separator: ".")
        let second = compactJWS(payload: #"{"sub":"b"}"#, signedBy: .p256).split(separator: ".")
        #expect(try verdict("\(first[0]).\(first[1]).\(second[2])", [TestKey.p256.jwk()]) == .signatureInvalid)
    }

    @Test(arguments: [
        ("RS512", "RS256"), ("RS256", "RS384"), ("PS256", "RS256"), ("RS256", "PS256"), ("PS384", "PS256"),
    ])
    func `a signature by another scheme than alg says is refused`(alg: String, signedAs: String) throws {
        let token = token(alg, kid: "rsa", by: .rsa, as: signedAs)
        #expect(try verdict(token, [TestKey.rsa.jwk()]) == .signatureInvalid)
    }

    @Test func `RS256 and PS256 by one key without alg both verify, as idpyoidc has it`() throws {
        for alg in ["RS256", "PS256"] {
            #expect(try verdict(token(alg, kid: "rsa", by: .rsa), [TestKey.rsa.jwk()]) == nil)
        }
    }

    @Test(arguments: ["RS384", "RS512", "PS256", "PS384", "PS512"])
    func `an algorithm the provider does not use is refused, good signature or not`(alg: String) throws {
        let token = token(alg, kid: "rsa", by: .rsa)
        #expect(try verdict(token, [TestKey.rsa.jwk()], allowing: [.rs256]) == .algorithmNotAllowed)
        #expect(try verdict(token, [TestKey.rsa.jwk()], allowing: []) == .algorithmNotAllowed)
    }

    @Test(arguments: [
        "{}", #"{"alg":null}"#, #"{"alg":5}"#, #"{"alg":["RS256"]}"#, #"{"alg":""}"#, #"{"alg":"none"}"#,
        #"{"alg":"None"}"#,
        #"{"alg":"HS256"}"#, #"{"alg":"HS512"}"#, #"{"alg":"rs256"}"#, #"{"alg":"RS256 "}"#, #"{"alg":"ＲＳ256"}"#,
        #"{"alg":"ES256K"}"#, #"{"alg":"PBES2-HS256+A128KW","p2c":4294967295}"#,
    ])
    func `an alg that is absent, unknown or symmetric is refused`(header: String) throws {
        let token = compactJWS(header: header, payload: "{}", signedBy: .rsa)
        #expect(try verdict(token, [TestKey.rsa.jwk()]) == .algorithmNotAllowed)
        let unsigned = token.prefix(through: token.lastIndex(of: ".")!)
        #expect(try verdict(String(unsigned), [TestKey.rsa.jwk()]) == .algorithmNotAllowed)
    }

    @Test(arguments: [
        #""crit":["exp"]"#, #""crit":[]"#, #""crit":null"#, #""crit":["b64"],"b64":false"#, #""b64":true"#,
        #""zip":"DEF""#,
    ])
    func `crit, b64 and zip are refused before anything else, good signature or not`(member: String) throws {
        let header = #"{"alg":"RS256","kid":"rsa",\#(member)}"#
        #expect(
            try verdict(compactJWS(header: header, payload: "{}", signedBy: .rsa), [TestKey.rsa.jwk()])
                == .headerUnsupported)
        let none = #"{"alg":"none","kid":"unknown",\#(member)}"#
        #expect(
            try verdict(compactJWS(header: none, payload: "{}", signedBy: .rsa), [TestKey.rsa.jwk()])
                == .headerUnsupported)
    }

    /// RFC 7797: the signature is valid over the unencoded payload.
    @Test func `an unencoded payload is refused, though its signature is good`() throws {
        let header = base64URL(#"{"alg":"RS256","kid":"rsa","b64":false,"crit":["b64"]}"#)
        let signature = TestKey.rsa.sign(Array("\(header).e30".utf8))
        #expect(try verdict("\(header).e30.\(base64URL(signature))", [TestKey.rsa.jwk()]) == .headerUnsupported)
    }

    /// CVE-2018-0114, CVE-2024-21643: the token brings its own key.
    @Test func `a key in the header, or behind an address in it, is never used`() throws {
        let evil = TestKey.otherRSA
        for member in [
            "\"jwk\":\(json(evil.jwk(["kid": .string("rsa")])))", #""jku":"https://evil.example/keys""#,
            #""jku":"file:///etc/passwd""#, #""x5u":"http://169.254.169.254/""#, #""x5c":["MIIB"],"x5t":"AA""#,
        ] {
            let header = #"{"alg":"RS256","kid":"rsa",\#(member)}"#
            #expect(
                try verdict(compactJWS(header: header, payload: "{}", signedBy: evil), [TestKey.rsa.jwk()])
                    == .signatureInvalid)
            #expect(
                try verdict(compactJWS(header: header, payload: "{}", signedBy: .rsa), [TestKey.rsa.jwk()]) == nil)
        }
    }

    @Test func `the checks come in order: header, algorithm, key, signature`() throws {
        func token(_ header: String) -> String { compactJWS(header: header, payload: "{}", signedBy: .otherRSA) }
        let keys = [TestKey.rsa.jwk()]
        #expect(try verdict(token(#"{"alg":"none","kid":"x","crit":[]}"#), keys) == .headerUnsupported)
        #expect(try verdict(token(#"{"alg":"none","kid":"x"}"#), keys) == .algorithmNotAllowed)
        #expect(try verdict(token(#"{"alg":"RS256","kid":"x"}"#), keys) == .keyNotFound)
        #expect(try verdict(token(#"{"alg":"RS256","kid":"rsa"}"#), keys) == .signatureInvalid)
    }
}
