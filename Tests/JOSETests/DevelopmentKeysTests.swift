import JOSE
import Testing
import TestSupport

/// Keys of `assay dev` are in no set that anything else reads.
@Suite struct DevelopmentKeysTests {
    private static let key = TestKey.p256.jwk(["kid": .string("assay-dev-AbCd1234")])

    @Test func `a development key is passed over, and the others work`() throws {
        let set = try JWKSet(jwkSet([Self.key, TestKey.rsa.jwk()]))
        #expect(set.keys.map(\.keyID) == ["rsa"])
        #expect(throws: JWKSet.ReadingError.noUsableKey) { try JWKSet(jwkSet([Self.key])) }
        #expect(JWKSet.entries(of: jwkSet([Self.key])).first?.flaw?.contains("assay dev") == true)
    }

    @Test func `only who asks for them gets them`() throws {
        let set = try JWKSet(jwkSet([Self.key, TestKey.rsa.jwk()]), acceptingDevelopmentKeys: true)
        #expect(set.keys.map(\.keyID) == ["assay-dev-AbCd1234", "rsa"])
    }

    @Test(arguments: ["assay-dev", "Assay-dev-1", "x-assay-dev-1", "", "assay-developer"])
    func `other names are a provider's own`(keyID: String) throws {
        let set = try JWKSet(jwkSet([TestKey.p256.jwk(["kid": .string(keyID)])]))
        #expect(set.keys.map(\.keyID) == [keyID])
    }

    @Test func `a certificate by such a name is passed over too`() throws {
        let certificates = JSONTree.object([
            "assay-dev-1": .string(TestKey.rsa.certificate()), "a": .string(TestKey.p256.certificate()),
        ])
        #expect(try JWKSet(certificates: Array(json(certificates).utf8)).keys.map(\.keyID) == ["a"])
    }
}
