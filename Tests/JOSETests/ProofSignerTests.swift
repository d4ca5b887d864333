@testable import JOSE
import OpenSSL
import Testing

@Suite struct ProofSignerTests {
    private static func claims(_ jws: CompactJWS) throws -> [String: JSONTree] {
        try #require((try JSONTree(readingObject: jws.payload)).object)
    }

    @Test func `a proof is signed by the key in it`() throws {
        let signer = try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256)))
        let proof = try signer.proof(
            method: "POST", url: "https://id.example.com/token?a=b#c", accessToken: nil, nonce: nil, now: 1_700_000_000)
        let jws = try CompactJWS(proof)
        #expect(jws.header.type == "dpop+jwt" && jws.header.algorithm == .es256)
        let key = try #require(jws.embeddedKey)
        #expect(key.thumbprint == signer.thumbprint)
        try JWSVerifier(signatureCacheCapacity: 0).checkSignature(of: jws, by: key, with: .es256)
        let claims = try Self.claims(jws)
        #expect(claims.keys.sorted() == ["htm", "htu", "iat", "jti"])
        #expect(claims["htm"] == .string("POST") && claims["htu"] == .string("https://id.example.com/token"))
        #expect(claims["iat"] == .integer(1_700_000_000))
    }

    /// RFC 9449, figure 12.
    @Test func `the hash of the access token is the published one`() throws {
        let signer = try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256)))
        let proof = try signer.proof(
            method: "GET", url: "https://resource.example.org/protectedresource",
            accessToken: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU", nonce: "eyJ7S_zG.eyJH0-Z.HX4w-7v", now: 0)
        let claims = try Self.claims(try CompactJWS(proof))
        #expect(claims["ath"] == .string("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"))
        #expect(claims["nonce"] == .string("eyJ7S_zG.eyJH0-Z.HX4w-7v"))
    }

    @Test func `no two proofs have the same identifier`() throws {
        let signer = try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256)))
        let identifiers = try (0..<100).map { _ in
            let proof = try signer.proof(
                method: "GET", url: "https://a.example/", accessToken: nil, nonce: nil, now: 0)
            return try Self.claims(try CompactJWS(proof))["jti"]?.string
        }
        #expect(Set(identifiers).count == 100)
    }

    @Test func `keys of other kinds sign no proofs`() throws {
        let key = try SigningKey(generating: .ellipticCurve(.p384))
        #expect(throws: OpenSSLError.self) { try ProofSigner(key) }
    }
}
