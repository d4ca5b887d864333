import JOSE

/// A header is accepted exactly if it is one JSON object whose `kid` and `typ` are strings, and jansson reads the same
/// values. A signature is valid exactly if the header does not forbid it.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    check(draw.object(near: goodHeader, values: [#""Ed25519""#, #""Ed448""#, #""ES256""#, #""none""#]))
    check(draw.object(near: ["alg": #""EdDSA""#, "crit": #"["b64"]"#, "b64": "false", "zip": #""DEF""#]))
}

private let goodHeader: KeyValuePairs = [
    "alg": #""EdDSA""#, "kid": #""1""#, "typ": #""JWT""#, "jwk": "{}", "jku": #""https://a.example/""#,
]

private func check(_ input: [UInt8]) {
    let header = header(input)
    let members = JSONTree.reading(input)
    let isGood = members.map { ["kid", "typ"].allSatisfy(isStringOrAbsent(in: $0)) } == true
    require((header != nil) == isGood, "the header \(shown(input)) is read just where it is good")
    guard let header, let members else { return }
    require(same(header.keyID, members["kid"]?.string), "kid of \(shown(input))")
    require(same(header.type, members["typ"]?.string), "typ of \(shown(input))")
    require(same(header.algorithm?.rawValue, knownAlgorithm(members["alg"])), "alg of \(shown(input))")
    let isUnsupported = ["crit", "b64", "zip"].contains { members[$0] != nil }
    require(header.hasUnsupportedParameter == isUnsupported, "crit, b64 and zip of \(shown(input))")

    let fits = [.edDSA, .ed25519].contains(header.algorithm) && (header.keyID ?? Signer.keyID) == Signer.keyID
    let jws = constant { try CompactJWS(Signer.token(header: input, payload: [])[...]) }
    let verified = try? unsafe verifier.verify(jws, with: Signer.keys, allowing: .all)
    require((verified != nil) == (fits && !isUnsupported), "a signature under \(shown(input)) holds just where it may")
}

// Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try JWSVerifier() }

/// A token's header, parsed on its own.
private func header(_ json: [UInt8]) -> JOSEHeader? {
    let text = Base64URL.encode(json) + Array("..".utf8)
    do throws(JWSError) {
        return try CompactJWS(text[...]).header
    } catch {
        require(error == .malformed(.header), "\(shown(json)) is refused as a header, not as \(error)")
        return nil
    }
}

private func isStringOrAbsent(in members: [String: JSONTree]) -> (String) -> Bool {
    { name in members[name].map { $0.string != nil } ?? true }
}

private func knownAlgorithm(_ value: JSONTree?) -> String? {
    SignatureAlgorithm.allCases.map(\.rawValue).first { $0.utf8.elementsEqual((value?.string ?? "").utf8) }
}

private func same(_ left: String?, _ right: String?) -> Bool {
    if let left, let right { left.utf8.elementsEqual(right.utf8) } else { left == nil && right == nil }
}
