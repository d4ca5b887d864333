import JOSE
import OpenSSL
import Testing

/// Tokens that are encrypted here are opened here; Conformance opens those of others.
@Suite struct JWEEncrypterTests {
    private static let text = Array("header.claims.signature".utf8)

    private static func key(_ kind: DecryptionKeyKind, id: String = "k") throws -> EncryptionKey {
        let algorithms = KeyManagementAlgorithm.allCases.filter { $0.fits(kind) }
        return try #require(EncryptionKey(id: id, try DecryptionKey(generating: kind), algorithms))
    }

    private static func opened(_ jwe: [UInt8], by key: EncryptionKey) -> Result<[UInt8], JWEError> {
        Result { () throws(JWEError) in
            try JWEDecrypter(
                [key], algorithms: Set(KeyManagementAlgorithm.allCases), content: Set(ContentAlgorithm.allCases)
            ).decrypt(CompactJWE(jwe[...]))
        }
    }

    @Test(
        arguments: AgreementCurve.allCases.map(DecryptionKeyKind.agreement) + [.rsa(modulusLength: 256)],
        ContentAlgorithm.allCases)
    func `every algorithm, with every key that fits`(kind: DecryptionKeyKind, content: ContentAlgorithm) throws {
        let key = try Self.key(kind)
        for algorithm in key.algorithms {
            let encrypter = try #require(JWEEncrypter(to: key, algorithm, content))
            let jwe = try encrypter.encrypt(Self.text.span)
            #expect(Self.opened(jwe, by: key) == .success(Self.text))
            let header = try CompactJWE(jwe[...]).header
            #expect((header.algorithm, header.content, header.keyID) == (algorithm, content, "k"))
            #expect(try encrypter.encrypt(Self.text.span) != jwe)
        }
    }

    @Test(arguments: [DecryptionKeyKind.agreement(.p256), .rsa(modulusLength: 256)])
    func `only the recipient opens it`(kind: DecryptionKeyKind) throws {
        let key = try Self.key(kind)
        let jwe = try #require(JWEEncrypter(to: key, key.algorithms[0], .a256GCM)).encrypt(Self.text.span)
        #expect(Self.opened(jwe, by: try Self.key(kind)) == .failure(.decryptionFailed))
    }

    @Test func `an algorithm that the key is not for`() throws {
        let key = try #require(
            EncryptionKey(id: "k", try DecryptionKey(generating: .agreement(.p256)), [.ecdhESA256KW]))
        #expect(JWEEncrypter(to: key, .ecdhES, .a256GCM) == nil)
        #expect(JWEEncrypter(to: key, .rsaOAEP, .a256GCM) == nil)
    }
}
