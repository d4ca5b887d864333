import JOSE
import Testing
import TestSupport

/// JWK Sets as published by providers: all are read, with the expected number of usable keys.
@Suite struct RealKeySets {
    /// The number of usable keys of each set in a file, in order.
    private static let usable: [(String, [Int])] = [
        ("apple/jwks_2021.json", [3]), ("firebase/jwks.json", [1]), ("microsoft/jwks_2020_with_x5c.json", [3]),
        ("microsoft/entra_common_latest.json", [7]), ("discovery/auth0_jwks.json", [2]),
        ("discovery/cognito_jwks.json", [2]), ("discovery/google_jwks.json", [2]), ("discovery/okta_jwks.json", [2]),
        // The other key is for encryption.
        ("discovery/keycloak_jwks.json", [1]), ("rotation/apple.json", [4, 5, 4, 3, 4, 4]),
        ("rotation/facebook.json", [2, 2, 2, 2, 2, 2]), ("rotation/gitlab.json", [2, 2, 2, 2]),
        ("rotation/google.json", [2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 2, 3, 2]),
        ("rotation/slack.json", [1, 1]), ("rotation/twitch.json", [1, 1, 1, 1]),
        // Its RSA keys have 1024 bits and are not usable; the P-256 key is.
        ("rotation/yahoo.json", [1, 1, 1, 1, 1, 1, 1]),
    ]

    /// The `keys` of every JWK Set in a file.
    private func sets(in tree: JSONTree) -> [[JSONTree]] {
        switch tree {
        case .object(let members):
            if let keys = members["keys"]?.array { return [keys] }
            return members.sorted { $0.key < $1.key }.flatMap { sets(in: $0.value) }
        case .array(let elements): return elements.flatMap { sets(in: $0) }
        default: return []
        }
    }

    @Test(arguments: usable)
    func `every set is read, with the usable keys it has`(file: String, expected: [Int]) throws {
        let sets = try sets(in: Vectors.json("real/\(file)"))
        let read = try sets.map { try JWKSet(jwkSet($0)) }
        #expect(read.map { $0.keys.filter(\.isUsable).count } == expected)
        // No key is lost: unusable ones are kept, for diagnostics.
        #expect(read.map(\.keys.count) == sets.map(\.count))
    }

    @Test func `no file of key sets is left out`() throws {
        var found: [String] = []
        for folder in try Vectors.names(in: "real") {
            for name in try Vectors.names(in: "real/\(folder)") where name.hasSuffix(".json") {
                if try !sets(in: Vectors.json("real/\(folder)/\(name)")).isEmpty { found.append("\(folder)/\(name)") }
            }
        }
        #expect(Set(found) == Set(Self.usable.map(\.0)))
        try VectorResults(source: "Key sets as providers served them", cases: Self.usable.map(\.1.count).reduce(0, +))
            .record()
    }

    @Test func `Google's certificate for Firebase holds the key of the JWK made from it`() throws {
        let jwks = try JWKSet(Vectors.octets("real/firebase/jwks.json"))
        let certificate = text(try Vectors.octets("real/firebase/cert.pem"))
        let keyID = try #require(jwks.keys.first?.keyID)
        let set = try JWKSet(certificates: Array(json(.object([keyID: .string(certificate)])).utf8))
        #expect(set.keys.map(\.thumbprint) == jwks.keys.map(\.thumbprint))
        #expect(set.keys.map(\.keyID) == jwks.keys.map(\.keyID))
    }

    @Test func `Microsoft's keys say whose tokens they are for`() throws {
        let file = try Vectors.json("real/microsoft/entra_common_latest.json")
        let set = try JWKSet(jwkSet(file.member("jwks").list("keys")))
        let ofAnyTenant = "https://login.microsoftonline.com/{tenantid}/v2.0"
        let ofConsumers = "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
        #expect(set.keys.map(\.issuer) == Array(repeating: ofAnyTenant, count: 5) + [ofConsumers, ofConsumers])
        #expect(try file.member("metadata").text("issuer") == ofAnyTenant)
    }

    @Test func `Yahoo's small keys are unsuitable, and spoil nothing`() throws {
        for snapshot in try Vectors.json("real/rotation/yahoo.json").list("snapshots") {
            let set = try JWKSet(jwkSet(snapshot.member("jwks").list("keys")))
            for key in set.keys { #expect(key.isUsable == (key.keyType == "EC")) }
            let small = try #require(set.keys.first { $0.keyType == "RSA" })
            let header = #"{"alg":"RS256","kid":\#(json(.string(try #require(small.keyID))))}"#
            let token = compactJWS(header: header, payload: "{}", signedBy: .rsa)
            #expect(try refusal(token, snapshot.member("jwks").list("keys")) == .keyUnsuitable)
        }
    }
}
