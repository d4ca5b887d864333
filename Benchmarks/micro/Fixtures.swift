import JOSE
import OpenSSL

/// Keys and tokens from make_fixtures.py. They never change, because verification costs depend on them a little.
struct Fixtures {
    /// The raw nonce that belongs to every token.
    let nonce: String
    private let tokens: [String: JSONTree]
    /// JWKs; each has its algorithm's name as `kid`.
    private let keys: [JSONTree]

    init() throws {
        let tree = try JSONTree(readingObject: PackageResources.fixtures_json).object
        guard let nonce = tree?["nonce"]?.string, let tokens = tree?["tokens"]?.object, let keys = tree?["keys"]?.array
        else { throw Mistake("fixtures.json lacks something") }
        self.nonce = nonce
        self.tokens = tokens
        self.keys = keys
    }

    /// A compact JWS. A good one is named after its algorithm, a bad one after its fault.
    func token(_ name: String) throws -> [UInt8] {
        guard let token = tokens[name]?.string else { throw Mistake("no token \(name)") }
        return Array(token.utf8)
    }

    /// One of the parts of a token, in base64url.
    func part(_ index: Int, of name: String) throws -> ArraySlice<UInt8> {
        try token(name).split(separator: UInt8(ascii: "."))[index]
    }

    /// One of the parts of a token, decoded.
    func decodedPart(_ index: Int, of name: String) throws -> [UInt8] {
        try decode(try part(index, of: name))
    }

    /// The body of `POST /v1/verify` for a token.
    func request(_ name: String) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("provider", "apple")
        json.member("id_token", String(decoding: try token(name), as: UTF8.self))
        json.member("nonce", nonce)
        json.endObject()
        return json.bytes
    }

    /// The members of an algorithm's JWK.
    func key(_ algorithm: String) throws -> [String: JSONTree] {
        for key in keys {
            if let members = key.object, members["kid"]?.string == algorithm { return members }
        }
        throw Mistake("no key \(algorithm)")
    }

    /// The decoded key of an algorithm.
    func publicKey(_ algorithm: String) throws -> PublicKey {
        let members = try key(algorithm)
        func octets(_ name: String) throws -> [UInt8] { try decode(Array((members[name]?.string ?? "").utf8)[...]) }
        return switch (members["kty"]?.string, members["crv"]?.string) {
        case ("RSA", _): try PublicKey(.rsa(modulus: octets("n"), exponent: octets("e")))
        case (_, "P-256"): try PublicKey(.ellipticCurve(.p256, x: octets("x"), y: octets("y")))
        case (_, "P-384"): try PublicKey(.ellipticCurve(.p384, x: octets("x"), y: octets("y")))
        case (_, "P-521"): try PublicKey(.ellipticCurve(.p521, x: octets("x"), y: octets("y")))
        default: try PublicKey(.edwards(.ed25519, point: octets("x")))
        }
    }

    /// The JSON text of a JWK Set of these keys.
    func keySet(_ algorithms: [String]) throws -> [UInt8] { jwkSet(try algorithms.map(key)) }

    /// The JSON text of a JWK Set of `count` copies of one key, with the `kid`s `0`, `1` and so on.
    func keySet(count: Int) throws -> [UInt8] {
        var members = try key("RS256")
        return jwkSet(
            (0..<count).map { index in
                members["kid"] = .string(String(index))
                return members
            })
    }

    private func jwkSet(_ keys: [[String: JSONTree]]) -> [UInt8] {
        var json = JSONWriter()
        json.value(.object(["keys": .array(keys.map { .object($0) })]))
        return json.bytes
    }
}

private func decode(_ text: ArraySlice<UInt8>) throws -> [UInt8] {
    guard let octets = Base64URL.decode(text.span) else { throw Mistake("fixtures.json has bad base64url") }
    return octets
}
