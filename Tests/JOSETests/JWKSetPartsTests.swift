import Bytes
import JOSE
import Testing
import TestSupport

/// Combining and comparing key sets.
@Suite struct JWKSetPartsTests {
    private func set(_ keys: [JSONTree]) throws -> JWKSet { try JWKSet(jwkSet(keys)) }

    /// Entries with these `kid`s, all with the same key.
    private func keys(_ keyIDs: some Sequence<String>) -> [JSONTree] {
        keyIDs.map { TestKey.p256.jwk(["kid": .string($0)]) }
    }

    // MARK: Adding

    @Test func `keys are added behind those that are there, and found by their kid`() throws {
        let added = try set(keys(["a", "b"])).adding(set([TestKey.rsa.jwk(), TestKey.ed25519.jwk(["kid": nil])]).keys)
        #expect(added.keys.map(\.keyID) == ["a", "b", "rsa", nil])
        #expect(added.hasKey("a"))
        #expect(added.hasKey("rsa"))
        #expect(!added.hasKey("ed25519"))
        #expect(try set(keys(["a"])).adding([]).keys.map(\.keyID) == ["a"])
    }

    @Test func `a token is verified with an added key as with any other`() throws {
        let added = try set([TestKey.p256.jwk()]).adding(set([TestKey.rsa.jwk()]).keys)
        for key in [TestKey.p256, .rsa] {
            let jws = try CompactJWS(token(by: key))
            let verified = try JWSVerifier().verify(jws, with: added, allowing: .all)
            #expect(verified.header.keyID == key.keyID)
        }
    }

    @Test func `a set takes as many as it may hold`() throws {
        let further = try set(keys(["x", "y", "z"])).keys
        for (count, taken) in [(1021, 3), (1022, 2), (1023, 1), (1024, 0)] {
            let added = try set(keys((0..<count).map(String.init))).adding(further)
            #expect(added.keys.count == count + taken)
            #expect(added.hasKey("x") == (taken > 0))
        }
    }

    @Test func `the first keys of a set are a set`() throws {
        let three = try set(keys(["a", "b", "c"]))
        #expect(three.prefix(2).keys.map(\.keyID) == ["a", "b"])
        #expect(!three.prefix(2).hasKey("c"))
        #expect(three.prefix(5).keys.count == 3)
        #expect(three.prefix(0).keys.isEmpty)
    }

    // MARK: As JSON

    @Test func `a set's JSON holds its keys, with those of their members that are read`() throws {
        let key = TestKey.rsa.jwk([
            "alg": .string("RS256"), "use": .string("sig"), "key_ops": .array([.string("verify")]),
            "x5c": .array([.string("MII"), .null]), "exp": .integer(.max), "weight": .real(0.5), "primary": .bool(true),
            "issuer": .string("\"https://x/\\\u{1}é😀"), "more": .object(["a": .object([:])]),
        ])
        // `key_ops` has done its work.
        let read = TestKey.rsa.jwk([
            "alg": .string("RS256"), "use": .string("sig"), "issuer": .string("\"https://x/\\\u{1}é😀"),
        ])
        let noKid = TestKey.p256.jwk(["kid": nil])
        let others = [
            // Unsuitable, for another use, and written in another way: each stays as it is.
            TestKey.otherP256.jwk(["y": .string("AAAA")]),
            TestKey.p384.jwk(["key_ops": .array([.string("deriveKey")])]),
            TestKey.rsa.jwk(["kid": .string("zero"), "e": .string("AAEAAQ")]),
            // Of an unknown type, which is ignored.
            JSONTree.object(["kty": .string("AKP")]),
        ]
        let original = try set([key, noKid] + others)
        let tree = try JSONTree(readingObject: original.json)
        #expect(tree.object?["keys"]?.array == [read, noKid] + others.dropLast())
        let again = try JWKSet(original.json)
        #expect(again.fingerprint == original.fingerprint)
        #expect(again.keys.map(\.isUsable) == [true, true, false, false, true])
    }

    // MARK: The fingerprint

    @Test func `the order of the keys makes no other fingerprint`() throws {
        let all = [TestKey.rsa.jwk(), TestKey.p256.jwk(), TestKey.ed25519.jwk(["kid": nil]), TestKey.p384.jwk()]
        let expected = try set(all).fingerprint
        var generator = SplitMix64(seed: 1)
        for _ in 0..<10 { #expect(try set(all.shuffled(using: &generator)).fingerprint == expected) }
        #expect(try set([all[0]]).adding(set(Array(all.dropFirst())).keys).fingerprint == expected)
    }

    @Test func `nor does what else is said of them, or what is no key`() throws {
        let plain = try set([TestKey.p256.jwk()]).fingerprint
        let adorned = TestKey.p256.jwk(["x5c": .array([]), "alg": .string("ES256")])
        #expect(try set([.null, adorned, .object(["kty": .string("oct")])]).fingerprint == plain)
    }

    @Test func `another key, another kid, one more or one less do`() throws {
        let sets: [[JSONTree]] = [
            [TestKey.p256.jwk()], [TestKey.otherP256.jwk(["kid": .string("p256")])], [TestKey.p256.jwk(["kid": nil])],
            [TestKey.p256.jwk(["kid": .string("P256")])], [TestKey.p256.jwk(), TestKey.rsa.jwk()], [TestKey.rsa.jwk()],
            [TestKey.p256.jwk(), TestKey.p256.jwk()], keys(["caf\u{e9}"]), keys(["cafe\u{301}"]),
        ]
        let fingerprints = try sets.map { try set($0).fingerprint }
        #expect(Set(fingerprints).count == sets.count)
    }

    /// 48 bits fit exactly into a metric, which is a double.
    @Test func `it is a number of 48 bits`() throws {
        let fingerprints = try (0..<200).map { try set(keys(["\($0)"])).fingerprint }
        #expect(fingerprints.allSatisfy { (0..<(1 << 48)).contains($0) })
        #expect(fingerprints.contains { $0 >= 1 << 47 })
        #expect(fingerprints.allSatisfy { Int64(Double($0)) == $0 })
    }
}
