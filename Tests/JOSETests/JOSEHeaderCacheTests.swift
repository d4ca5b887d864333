import JOSE
import Testing
import TestSupport

/// The header cache only saves parsing, and changes no result.
@Suite struct JOSEHeaderCacheTests {
    private let verifier = try! JWSVerifier()
    private let keys = try! JWKSet(jwkSet([TestKey.p256, .otherP256, .rsa, .ed25519].map { $0.jwk() }))

    private func verdict(_ token: String, remembering: Bool) -> JWSError? {
        do throws(JWSError) {
            let text = Array(token.utf8)[...]
            let jws = remembering ? try CompactJWS(text, headerCache: verifier.headerCache) : try CompactJWS(text)
            let verified = try (remembering ? verifier : JWSVerifier()).verify(
                jws, with: keys, allowing: [.es256, .rs256, .edDSA])
            // A cached header equals the parsed one.
            #expect(try verified.header == CompactJWS(token).header)
            return nil
        } catch {
            return error
        }
    }

    @Test func `no verdict depends on what was seen before`() {
        let good = token(by: .p256)
        let parts = good.split(separator: ".").map(String.init)
        let other = token(by: .otherP256).split(separator: ".").map(String.init)
        var tokens = [
            good, token(by: .otherP256), token(by: .rsa), token(by: .ed25519),
            // The same header with another payload, without a signature, with another token's signature, with another
            // `kid`'s.
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(base64URL("[]")).\(parts[2])",
            "\(parts[0]).\(parts[1]).\(other[2])",
            "\(other[0]).\(parts[1]).\(parts[2])",
            // Almost the same header: shorter, longer, not canonical.
            "\(parts[0].dropLast()).\(parts[1]).\(parts[2])", "\(parts[0])A.\(parts[1]).\(parts[2])",
            "\(parts[0])=.\(parts[1]).\(parts[2])", ".\(parts[1]).\(parts[2])", "\(parts[0]).!.\(parts[2])",
            "\(parts[0]).\(parts[1]).!", "\(parts[0]).\(parts[1])", "\(good).", "\(good)..",
            token("ES256", kid: "unknown", by: .p256), token("ES384", kid: "p256", by: .p384),
        ]
        tokens += tokens.reversed() + tokens
        for (index, token) in tokens.enumerated() {
            #expect(verdict(token, remembering: true) == verdict(token, remembering: false), "token \(index)")
        }
    }

    @Test func `more headers than there is room for all stay right`() {
        let tokens = (0..<40).map { number in
            compactJWS(header: #"{"alg":"ES256","kid":"p256","x":\#(number)}"#, payload: "\(number)", signedBy: .p256)
        }
        for _ in 0..<3 { for token in tokens { #expect(verdict(token, remembering: true) == nil) } }
    }

    @Test func `a header that never verified is judged anew each time`() {
        let unsigned = base64URL(#"{"alg":"none"}"#) + ".e30."
        let critical = compactJWS(header: #"{"alg":"ES256","kid":"p256","crit":["x"]}"#, payload: "{}", signedBy: .p256)
        for _ in 0..<3 {
            #expect(verdict(unsigned, remembering: true) == .algorithmNotAllowed)
            #expect(verdict(critical, remembering: true) == .headerUnsupported)
        }
    }

    @Test func `a remembered header is judged by the keys and the algorithms of the day`() throws {
        let good = token(by: .p256)
        #expect(verdict(good, remembering: true) == nil)
        let jws = try CompactJWS(Array(good.utf8)[...], headerCache: verifier.headerCache)
        let others = try JWKSet(jwkSet([TestKey.otherP256.jwk(["kid": .string("p256")])]))
        #expect(throws: JWSError.signatureInvalid) { try verifier.verify(jws, with: others, allowing: [.es256]) }
        #expect(throws: JWSError.algorithmNotAllowed) { try verifier.verify(jws, with: keys, allowing: [.rs256]) }
        let without = try JWKSet(jwkSet([TestKey.rsa.jwk()]))
        #expect(throws: JWSError.keyNotFound) { try verifier.verify(jws, with: without, allowing: [.es256]) }
    }
}
