import JOSE
import Testing
import TestSupport

/// The examples in the RFCs.
@Suite struct RFCExamples {
    private func example(_ reference: String) throws -> JSONTree {
        let examples = try #require(try Vectors.json("rfc/rfc7515_appendix_a_and_rfc8037.json").array)
        return try #require(try examples.first { try $0.text("ref").hasPrefix(reference) })
    }

    private func cookbook(_ path: String) throws -> JSONTree { try Vectors.json("rfc7520-cookbook/\(path)") }

    private func bilbo() throws -> JSONTree { try cookbook("jwk/3_3.rsa_public_key.json") }

    @Test(arguments: ["RFC 7515 A.2", "RFC 7515 A.3", "RFC 7515 A.4", "RFC 8037 A.4"])
    func `asymmetric signatures verify`(reference: String) throws {
        let example = try example(reference)
        let jws = try example.text("jws")
        #expect(try refusal(jws, [example.member("jwk")]) == nil)
        let verified = try JWSVerifier().verify(
            CompactJWS(jws), with: JWKSet(jwkSet([example.member("jwk")])), allowing: .all)
        #expect(try verified.algorithm.rawValue == example.text("alg"))
    }

    @Test func `the payload of RFC 7515 A.2 and A.3 is the one in the RFC`() throws {
        let expected = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
        for reference in ["RFC 7515 A.2", "RFC 7515 A.3"] {
            #expect(try CompactJWS(example(reference).text("jws")).payload == Array(expected.utf8))
        }
    }

    @Test(arguments: ["RFC 7515 A.1", "RFC 7515 A.5"])
    func `symmetric and unsigned ones are not allowed`(reference: String) throws {
        #expect(try refusal(example(reference).text("jws"), [bilbo()]) == .algorithmNotAllowed)
    }

    @Test func `a symmetric key is none of ours`() throws {
        let key = try example("RFC 7515 A.1").member("jwk")
        #expect(throws: JWKSet.ReadingError.noUsableKey) { try JWKSet(jwkSet([key])) }
        let another = try cookbook("jwk/3_5.symmetric_key_mac_computation.json")
        #expect(throws: JWKSet.ReadingError.noUsableKey) { try JWKSet(jwkSet([another])) }
    }

    @Test func `a crit that nobody understands is refused`() throws {
        #expect(try refusal(example("RFC 7515 appendix E").text("jws"), [bilbo()]) == .headerUnsupported)
    }

    @Test(arguments: ["RFC 7515 A.6", "RFC 7515 A.7"])
    func `the JSON serializations are refused`(reference: String) throws {
        let text = json(try example(reference).member("json"))
        #expect(throws: JWSError.malformed(.serialization)) { try CompactJWS(text) }
    }

    @Test func `RFC 7520 4.1 verifies`() throws {
        let example = try cookbook("jws/4_1.rsa_v15_signature.json")
        let jws = try example.member("output").text("compact")
        #expect(try refusal(jws, [bilbo()]) == nil)
        #expect(try CompactJWS(jws).payload == Array(example.member("input").text("payload").utf8))
        // The key of section 3.1 has the same kid and another type.
        let samePerson = try cookbook("jwk/3_1.ec_public_key.json")
        #expect(try refusal(jws, [samePerson, bilbo()]) == nil)
        #expect(try refusal(jws, [samePerson]) == .keyNotFound)
    }

    @Test(arguments: [
        "jws/4_1.rsa_v15_signature.json", "jws/4_4.hmac-sha2_integrity_protection.json",
        "jws/4_5.signature_with_detached_content.json", "jws/4_7.protecting_content_only.json",
    ])
    func `RFC 7520's JSON serializations are refused`(path: String) throws {
        let output = try cookbook(path).member("output")
        for form in ["json", "json_flat"] {
            let text = json(try output.member(form))
            #expect(throws: JWSError.malformed(.serialization)) { try CompactJWS(text) }
        }
    }

    @Test func `RFC 7520's HMACs are not allowed, with content or detached`() throws {
        let whole = try cookbook("jws/4_4.hmac-sha2_integrity_protection.json").member("output").text("compact")
        #expect(try refusal(whole, [bilbo()]) == .algorithmNotAllowed)
        let detached = try cookbook("jws/4_5.signature_with_detached_content.json").member("signing")
        #expect(
            try refusal("\(detached.text("protected_b64u"))..\(detached.text("sig"))", [bilbo()])
                == .algorithmNotAllowed)
    }

    @Test func `RFC 7797's unencoded payload is refused`() throws {
        let signing = try cookbook("rfc7797/4.2.hmac-sha2_b64_false.json").member("signing")
        let (header, signature) = try (signing.text("protected_b64u"), signing.text("sig"))
        #expect(try refusal("\(header)..\(signature)", [bilbo()]) == .headerUnsupported)
        #expect(try refusal("\(header).\(base64URL("$.02")).\(signature)", [bilbo()]) == .headerUnsupported)
        #expect(try refusal("\(header).$.02.\(signature)", [bilbo()]) == .malformed(.serialization))
    }

    @Test func `the cookbook's Ed25519 signature verifies`() throws {
        let example = try cookbook("curve25519/jws.json")
        let key = try example.member("input").member("key").withoutPrivateHalf()
        #expect(try refusal(example.member("output").text("compact"), [key]) == nil)
    }

    @Test(arguments: ["jwk/3_2.ec_private_key.json", "jwk/3_4.rsa_private_key.json"])
    func `private keys are none of ours, their public halves are`(path: String) throws {
        let key = try cookbook(path)
        #expect(throws: JWKSet.ReadingError.noUsableKey) { try JWKSet(jwkSet([key])) }
        #expect(try JWKSet(jwkSet([key.withoutPrivateHalf()])).keys.map(\.isUsable) == [true])
    }

    @Test func `encrypted tokens are refused as such`() throws {
        for name in try Vectors.names(in: "rfc7520-cookbook/jwe") {
            let jwe = try cookbook("jwe/\(name)").member("output").text("compact")
            #expect(throws: JWSError.encrypted) { try CompactJWS(jwe) }
        }
    }
}
