import JOSE
import OpenSSL
import Testing
import TestSupport

/// Key sets published as certificates by `kid`.
@Suite struct CertificateKeysTests {
    private func set(_ certificates: [String: String]) throws -> JWKSet {
        try JWKSet(certificates: Array(json(.object(certificates.mapValues(JSONTree.string))).utf8))
    }

    private func error(_ json: String) -> JWKSet.ReadingError? {
        do throws(JWKSet.ReadingError) {
            _ = try JWKSet(certificates: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    private func thumbprint(_ key: TestKey) throws -> String {
        try #require(JWKSet(jwkSet([key.jwk()])).keys.first?.thumbprint)
    }

    @Test(arguments: [TestKey.rsa, .p256, .p384, .p521])
    func `the key of a certificate is the one that it is about`(key: TestKey) throws {
        let read = try set([key.keyID: key.certificate()])
        #expect(try read.keys.map(\.thumbprint) == [thumbprint(key)])
        #expect(read.keys[0].keyID == key.keyID)
        #expect(read.keys[0].use == "sig")
        #expect(read.keys[0].isUsable)
        let verifier = try JWSVerifier()
        let jws = try CompactJWS(token(by: key))
        #expect(throws: Never.self) { try verifier.verify(jws, with: read, allowing: .all) }
        let other = try CompactJWS(token(key.algorithm, kid: "other", by: key))
        #expect(throws: JWSError.keyNotFound) {
            try verifier.verify(other, with: read, allowing: .all)
        }
    }

    @Test func `each certificate goes with its own kid`() throws {
        let read = try set(["a": TestKey.rsa.certificate(), "b": TestKey.otherRSA.certificate()])
        #expect(read.keys.map(\.keyID) == ["a", "b"])
        #expect(try read.keys.map(\.thumbprint) == [thumbprint(.rsa), thumbprint(.otherRSA)])
    }

    @Test func `the set as JSON is a JWK Set of the same keys`() throws {
        let read = try set(["a": TestKey.rsa.certificate(), "b": TestKey.p256.certificate()])
        let again = try JWKSet(read.json)
        #expect(again.keys.map(\.thumbprint) == read.keys.map(\.thumbprint))
        #expect(again.keys.map(\.keyID) == ["a", "b"])
    }

    @Test func `what is no certificate is passed over, and spoils nothing`() throws {
        let good = TestKey.rsa.certificate()
        for bad in [
            "", "x", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
            good.replacing("CERTIFICATE", with: "PUBLIC KEY"), good.replacing("M", with: "!"), "x\n" + good,
            good + "x\n",
            TestKey.pem([0x30, 0x00]), TestKey.ed25519.certificate(),
        ] {
            let read = try set(["bad": bad, "good": good])
            #expect(read.keys.map(\.keyID) == ["good"], "\(bad.prefix(40))")
        }
        let mixed = #"{"a":1,"b":null,"c":{},"good":\#(json(.string(good)))}"#
        #expect(error(mixed) == nil)
    }

    @Test(arguments: ["9223372036854775808", "-99999999999999999999", "{\"n\":9223372036854775808}"])
    func `a number beyond 64 bits is no certificate, and spoils no other`(number: String) throws {
        let json = Array(#"{"b":\#(json(.string(TestKey.rsa.certificate()))),"a":\#(number)}"#.utf8)
        #expect(try JWKSet(certificates: json).keys.map(\.keyID) == ["b"])
        let entries = JWKSet.entries(ofCertificates: json)
        #expect(entries.map(\.keyID) == ["a", "b"])
        #expect(entries.map(\.flaw) == ["it is not a PEM certificate of an RSA or EC key", nil])
    }

    @Test func `lines may end as they do on Windows`() throws {
        let text = TestKey.rsa.certificate().replacing("\n", with: "\r\n")
        #expect(try set(["a": text]).keys.count == 1)
    }

    @Test(arguments: ["", "null", "[]", "<html>", #"{"a":"#, #"{"a":"x","a":"y"}"#])
    func `what is no object is malformed`(json: String) {
        #expect(error(json) == .malformed)
    }

    @Test func `a set without a usable key is none, and one too large is refused`() throws {
        #expect(error("{}") == .noUsableKey)
        #expect(error(#"{"a":"x"}"#) == .noUsableKey)
        let small = TestKey("small", "RS256", .rsa(modulusLength: 128))
        #expect(error(json(.object(["a": .string(small.certificate())]))) == .noUsableKey)
        #expect(error("{" + (0...1024).map { "\"\($0)\":1" }.joined(separator: ",") + "}") == .tooManyKeys)
    }
}
