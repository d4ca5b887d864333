import JOSE

/// The keys of a set are those of its entries, before and after serialization. No key accepts a trivial signature.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    let keys = goodKeys.map { text in
        let other = draw.element(of: ["d", "k", "x5c", "exp"])
        let members = draw.object(
            near: [
                "kid": #""1""#, "use": #""sig""#, "key_ops": #"["sign","verify"]"#, "alg": #""EdDSA""#, other: #""AA""#,
            ], values: [#""ES256""#, #""enc""#, #"["verify"]"#])
        return text.dropLast() + "," + String(decoding: members.dropFirst(), as: UTF8.self)
    }
    check(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
}

/// The members of valid keys.
private let goodKeys = [
    #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
    #"""
    {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\#
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
    """#,
]

private func check(_ input: [UInt8]) {
    // Each is read for itself.
    let entries = (try? JSONObject(input))?["keys"]?.elements?.map { try? JSONTree(readingObject: Array($0.json)) }
    let set: JWKSet
    do throws(JWKSet.ReadingError) {
        set = try JWKSet(input)
    } catch {
        require((error == .malformed) == (entries == nil), "\(shown(input)) is malformed just where it has no keys")
        require((error == .tooManyKeys) == ((entries?.count ?? 0) > JWKSet.maximumKeys), "\(shown(input)) has too many")
        return
    }
    guard let entries else { return require(false, "\(shown(input)) is one JSON object with an array keys") }
    check(set, entries)
    checkWriting(set)
    for token in signedByNobody {
        let verified = try? unsafe verifier.verify(token, with: set, allowing: .all)
        require(verified == nil, "a signature of nothing holds with no key of \(shown(input))")
    }
}

private func check(_ set: JWKSet, _ entries: [JSONTree?]) {
    require(set.keys.contains(where: \.isUsable), "a set has a key to verify with")
    // Each key is one of the entries, in order.
    var rest = entries[...]
    for key in set.keys {
        let index = rest.firstIndex { $0?.object.map { isWritten(key, $0) } == true }
        guard let index else { return require(false, "the key \(key) is in the set's text, in its place") }
        rest = rest[(index + 1)...]
        if let keyID = key.keyID { require(set.hasKey(keyID), "the set has its own key \(keyID)") }
        require(["RSA", "EC", "OKP"].contains(key.keyType), "\(key.keyType) is a type of public keys")
    }
}

/// A set that is serialized, as in the archive on disk, is read back unchanged.
private func checkWriting(_ set: JWKSet) {
    let json = set.json
    guard let again = try? JWKSet(json) else { return require(false, "\(shown(json)) was written, and is read again") }
    require(again.keys.map(described) == set.keys.map(described), "\(shown(json)) says what was written")
    require(again.fingerprint == set.fingerprint, "\(shown(json)) has the set's fingerprint")
    require(again.json == json, "\(shown(json)) is written the same again")
}

private func described(_ key: JWK) -> [String?] {
    [key.keyID, key.keyType, key.curve, key.algorithm, key.use, key.thumbprint, "\(key.isUsable)"]
}

private func isWritten(_ key: JWK, _ members: [String: JSONTree]) -> Bool {
    members["kty"]?.string == key.keyType && members["kid"]?.string == key.keyID && members["crv"]?.string == key.curve
        && members["alg"]?.string == key.algorithm && members["use"]?.string == key.use
        && members["d"] == nil && members["k"] == nil
}

// Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try JWSVerifier() }

/// Tokens with signatures that need no private key: all zeros, and on Edwards curves the neutral element's, which is
/// valid for keys of small order.
private let signedByNobody: [CompactJWS] = [
    token("RS256", zeros(256)), token("RS512", zeros(512)), token("PS256", zeros(256)), token("PS512", zeros(512)),
    token("ES256", zeros(64)), token("ES384", zeros(96)), token("ES512", zeros(132)),
    token("EdDSA", zeros(64)), token("Ed25519", [1] + zeros(63)), token("EdDSA", [1] + zeros(113)),
    token("Ed448", zeros(114)),
]

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

private func token(_ algorithm: String, _ signature: [UInt8]) -> CompactJWS {
    let parts = [Array(#"{"alg":"\#(algorithm)"}"#.utf8), Array("{}".utf8), signature].map { Base64URL.encode($0) }
    return constant { try CompactJWS(Array(parts.joined(separator: [UInt8(ascii: ".")]))[...]) }
}
