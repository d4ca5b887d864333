import JOSE
import Testing
import TestSupport

/// The form of AWS's load balancers: padded parts, with the padding signed.
@Suite struct PaddedJWSTests {
    private static let key = TestKey.loadBalancer
    private static let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#

    private static func read(_ text: String) throws(JWSError) -> CompactJWS {
        try CompactJWS(padded: Array(text.utf8)[...])
    }

    private static func error(_ text: String) -> JWSError? {
        do throws(JWSError) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    private static func verify(_ jws: CompactJWS, by verifier: JWSVerifier) throws(JWSError) {
        let keys = try! JWKSet(jwkSet([key.jwk()]))
        _ = try verifier.verify(jws, with: keys, allowing: [.es256])
    }

    /// Payloads of each length that needs another padding.
    @Test(arguments: ["{}", #"{"a":1}"#, #"{"a":12}"#, #"{"a":123}"#])
    func `each part has the padding that its length needs, and the signature covers it`(payload: String) throws {
        let text = paddedJWS(header: Self.header, payload: payload, signedBy: Self.key)
        let jws = try Self.read(text)
        #expect(jws.payload.elementsEqual(payload.utf8))
        #expect(jws.header.keyID == Self.key.keyID)
        try Self.verify(jws, by: JWSVerifier())
    }

    @Test(arguments: ["{}", #"{"a":1}"#, #"{"a":12}"#, #"{"a":123}"#])
    func `no text is both this form and that of RFC 7515`(payload: String) {
        let text = paddedJWS(header: Self.header, payload: payload, signedBy: Self.key)
        #expect(throws: JWSError.self) { try CompactJWS(text) }
        let plain = compactJWS(header: Self.header, payload: payload, signedBy: Self.key)
        #expect(Self.error(plain) != nil)
        #expect(throws: Never.self) { try CompactJWS(plain) }
    }

    @Test func `padding that is missing, too long or elsewhere is refused`() throws {
        let parts = paddedJWS(header: Self.header, payload: #"{"a":1}"#, signedBy: Self.key).split(separator: ".")
        #expect(parts[2].hasSuffix("=="))
        let signature = parts[2].dropLast(2)
        for bad in ["", "=", "===", "====", "======"] {
            #expect(Self.error("\(parts[0]).\(parts[1]).\(signature)\(bad)") == .malformed(.signature))
        }
        #expect(Self.error("\(parts[0]).\(parts[1]).==\(signature)") == .malformed(.signature))
        #expect(Self.error("\(parts[0])====.\(parts[1]).\(parts[2])") == .malformed(.header))
        #expect(Self.error("\(parts[0]).====.\(parts[2])") == .malformed(.payload))
        #expect(Self.error("\(parts[0]).e30.\(parts[2])") == .malformed(.payload))
        // Unused bits that are not zero.
        #expect(Self.error("\(parts[0]).\(parts[1]).\(signature.dropLast())B==") == .malformed(.signature))
    }

    @Test func `other alphabets and other numbers of parts are refused`() {
        let parts = paddedJWS(header: Self.header, payload: "{}", signedBy: Self.key).split(separator: ".")
        #expect(Self.error("\(parts[0]).e3+/.\(parts[2])") == .malformed(.payload))
        #expect(Self.error("\(parts[0]).e30 .\(parts[2])") == .malformed(.payload))
        #expect(Self.error("\(parts[0]).\(parts[1])") == .malformed(.serialization))
        #expect(Self.error("\(parts[0]).\(parts[1]).\(parts[2]).") == .malformed(.serialization))
        #expect(Self.error("a.b.c.d.e") == .encrypted)
        #expect(Self.error("") == .malformed(.serialization))
        #expect(Self.error("..") == .malformed(.header))
    }

    @Test func `the padding is part of what is signed`() throws {
        let padded = paddedJWS(header: Self.header, payload: #"{"a":1}"#, signedBy: Self.key).split(separator: ".")
        let plain = compactJWS(header: Self.header, payload: #"{"a":1}"#, signedBy: Self.key).split(separator: ".")
        #expect(padded[1].hasSuffix("="))
        let verifier = try JWSVerifier()
        let foreign = try Self.read("\(padded[0]).\(padded[1]).\(plain[2])==")
        #expect(throws: JWSError.signatureInvalid) { try Self.verify(foreign, by: verifier) }
        let stripped = try CompactJWS("\(plain[0]).\(plain[1]).\(padded[2].dropLast(2))")
        #expect(throws: JWSError.signatureInvalid) { try Self.verify(stripped, by: verifier) }
    }

    /// A header that was read once is not decoded again, so it must not get there with padding.
    @Test func `a padded header is padded for every other reader too`() throws {
        // 61 bytes: the header needs padding.
        let header = #"{"alg":"ES256","kid":"\#(Self.key.keyID)" }"#
        let text = paddedJWS(header: header, payload: "{}", signedBy: Self.key)
        #expect(text.prefix { $0 != "." }.hasSuffix("="))
        let verifier = try JWSVerifier()
        try Self.verify(try Self.read(text), by: verifier)
        let forged = text.prefix { $0 != "." } + ".e30." + base64URL([UInt8](repeating: 0, count: 64))
        #expect(throws: JWSError.malformed(.header)) {
            try CompactJWS(Array(forged.utf8)[...], headerCache: verifier.headerCache)
        }
    }

    @Test func `members that no verifier reads can be read from either form`() throws {
        let header = #"{"alg":"ES256","signer":"s"}"#
        let padded = try Self.read(paddedJWS(header: header, payload: "{}", signedBy: Self.key))
        #expect(padded.headerObject?["signer"]?.string == "s")
        let plain = try CompactJWS(compactJWS(header: header, payload: "{}", signedBy: Self.key))
        #expect(plain.headerObject?["signer"]?.string == "s")
    }
}

/// A public key in PEM, as AWS publishes those of its load balancers.
@Suite struct PublicKeyPEMTests {
    private static func key(_ pem: String) -> JWK? { JWK(keyID: "a", publicKey: Array(pem.utf8)) }

    @Test(arguments: [TestKey.p256, .p384, .p521, .rsa])
    func `it is the same key as its JWK`(key: TestKey) throws {
        let read = try #require(Self.key(key.publicKeyPEM()))
        let set = try JWKSet(jwkSet([key.jwk()]))
        #expect(read.thumbprint == set.keys[0].thumbprint)
        #expect(read.keyID == "a")
        #expect(read.isUsable)
    }

    /// Published by AWS, as quoted in sscarduzio/elasticsearch-readonlyrest-plugin#388.
    @Test func `a key of a real load balancer is read`() throws {
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEV2/rLhXWkZ29iaHCXiRNzy8MPN1x
            NCrp0UZX4cxhj+A20bvViURRiyOtbBv+ah98xy6npBY5ibt0jg9WDZoKoA==
            -----END PUBLIC KEY-----
            """
        #expect(try #require(Self.key(pem)).typeText == "EC P-256")
    }

    @Test func `anything else is refused`() {
        let pem = TestKey.p256.publicKeyPEM()
        #expect(Self.key("") == nil)
        #expect(Self.key(pem + pem) == nil)
        #expect(Self.key(TestKey.p256.certificate()) == nil)
        #expect(Self.key(pem.replacing("PUBLIC", with: "PRIVATE")) == nil)
        #expect(Self.key(String(pem.dropLast(40))) == nil)
        #expect(Self.key(TestKey.ed25519.publicKeyPEM()) == nil)
        #expect(Self.key(pem.replacing("M", with: "N")) == nil)
        #expect(Self.key("<Error><Code>AccessDenied</Code></Error>") == nil)
    }
}
