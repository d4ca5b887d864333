import JOSE

/// Only three texts verify with the fixed keys: those that were signed.
///
/// The input is used as a whole token, in place of each part of each valid token (so it need not be base64url to get
/// further), and as the seed of a small change to a valid token.
func fuzz(_ input: [UInt8]) {
    check(input)
    check(changed(by: input))
    let encoded = Base64URL.encode(input)
    for parts in goodParts {
        check(joined(encoded, parts[1], parts[2]))
        check(joined(parts[0], encoded, parts[2]))
        check(joined(parts[0], parts[1], encoded))
    }
}

// One for all inputs, so that its cache persists between them. Used by one thread only.
nonisolated(unsafe) private let verifier = constant { try JWSVerifier() }
private let goodParts = GoodTokens.all.map { $0.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) }

private func joined(_ parts: any Collection<UInt8>...) -> [UInt8] {
    Array(parts.map { Array($0) }.joined(separator: [UInt8(ascii: ".")]))
}

/// A valid token with up to two characters replaced by up to two others, near the start or the end of a part.
private func changed(by input: [UInt8]) -> [UInt8] {
    var draw = Draw(from: input)
    let token = draw.element(of: GoodTokens.all)
    let ends = [0] + token.indices.filter { token[$0] == UInt8(ascii: ".") } + [token.count]
    let start = min(max(draw.element(of: ends) + draw.number(below: 8) - 4, 0), token.count)
    let end = min(start + draw.number(below: 3), token.count)
    let others = (0..<draw.number(below: 3)).map { _ in draw.element(of: characters) }
    return Array(token[..<start]) + others + token[end...]
}

/// The alphabet of base64url, and characters that lenient decoders ignore or treat as part of it.
private let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \t\r\n\0%~".utf8)

private func check(_ token: [UInt8]) {
    guard let jws = try? unsafe CompactJWS(token[...], headerCache: verifier.headerCache) else {
        require(!GoodTokens.all.contains(token), "\(shown(token)) is in the right form")
        return
    }
    let verified = try? unsafe verifier.verify(jws, with: GoodTokens.keys, allowing: .all)
    guard let verified else {
        require(!GoodTokens.all.contains(token), "\(shown(token)) verifies")
        return
    }
    require(GoodTokens.all.contains { isSigned(token, by: $0) }, "\(shown(token)) was signed")
    let payload = token.split(separator: UInt8(ascii: "."))[1]
    let isSame = Base64URL.encode(verified.payload).elementsEqual(payload)
    require(isSame, "\(shown(token)) has the payload that was signed")
}

/// Whether a token equals a valid one in every octet, except for a malleable ECDSA signature.
private func isSigned(_ token: [UInt8], by good: [UInt8]) -> Bool {
    guard let end = good.lastIndex(of: UInt8(ascii: ".")), good == GoodTokens.all[1] else { return token == good }
    return token.prefix(end + 1) == good.prefix(end + 1) && token.count == good.count
}
