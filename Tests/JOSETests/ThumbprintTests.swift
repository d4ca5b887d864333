import JOSE
import OpenSSL
import Testing
import TestSupport

/// JWK Thumbprints (RFC 7638).
@Suite struct ThumbprintTests {
    private func thumbprint(_ jwk: JSONTree) throws -> String? {
        try JWKSet(jwkSet([jwk, TestKey.otherP256.jwk()])).keys.dropLast().first?.thumbprint
    }

    /// The SHA-256 of a text in base64url.
    private func digest(_ text: String) throws -> String {
        base64URL(try DigestContext().digest(Array(text.utf8).span, with: .sha256))
    }

    @Test func `the example of RFC 7638, section 3_1`() throws {
        let modulus = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3ok\
            njhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu\
            6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8a\
            wapJzKnqDKgw
            """
        let key = JSONTree.object([
            "kty": .string("RSA"), "n": .string(modulus), "e": .string("AQAB"), "alg": .string("RS256"),
            "kid": .string("2011-04-29"),
        ])
        #expect(try thumbprint(key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func `the example of RFC 8037, A_3`() throws {
        let key = JSONTree.object([
            "kty": .string("OKP"), "crv": .string("Ed25519"),
            "x": .string("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
        ])
        #expect(try thumbprint(key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test(arguments: [
        (TestKey.rsa, ["e", "kty", "n"]), (.p256, ["crv", "kty", "x", "y"]), (.p384, ["crv", "kty", "x", "y"]),
        (.p521, ["crv", "kty", "x", "y"]), (.ed25519, ["crv", "kty", "x"]), (.ed448, ["crv", "kty", "x"]),
    ])
    func `it is that of the members a key of its type needs, in order and without a space`(
        key: TestKey, names: [String]
    ) throws {
        let members = try #require(key.jwk().object)
        let text = names.map { "\"\($0)\":\"\(members[$0]?.string ?? "")\"" }.joined(separator: ",")
        #expect(try thumbprint(key.jwk()) == digest("{\(text)}"))
    }

    @Test func `what a key is called or used for makes no other of it`() throws {
        let plain = try #require(try thumbprint(TestKey.p256.jwk()))
        for changes: [String: JSONTree?] in [
            ["kid": nil], ["kid": .string("other")], ["alg": .string("ES256")], ["alg": .string("RS256")],
            ["use": .string("enc")], ["key_ops": .array([.string("verify")])], ["x5c": .array([.string("MII")])],
            ["n": .string("AQAB")], ["exp": .integer(5)],
        ] {
            #expect(try thumbprint(TestKey.p256.jwk(changes)) == plain, "\(changes)")
        }
    }

    @Test func `any other material does, even where nothing can be verified with it`() throws {
        let x = try #require(TestKey.p256.jwk().object?["x"]?.string)
        let keys = [
            TestKey.p256.jwk(), TestKey.otherRSA.jwk(), TestKey.rsa.jwk(), TestKey.ed25519.jwk(), TestKey.p384.jwk(),
            TestKey.p256.jwk(["y": .string(x)]), TestKey.p256.jwk(["x": .string("AA" + x)]),
            TestKey.p256.jwk(["crv": .string("P-384")]), TestKey.rsa.jwk(["e": .string("Aw")]),
            TestKey.p256.jwk(["x": .integer(5)]),
        ]
        let thumbprints = try keys.map { try #require(try thumbprint($0)) }
        #expect(Set(thumbprints).count == keys.count)
        #expect(thumbprints.allSatisfy { $0.utf8.count == 43 })
    }
}
