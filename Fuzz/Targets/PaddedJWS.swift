import JOSE

/// What is read in the form of AWS's load balancers has exactly the padding that it needs, and is no JWT.
///
/// The input is used as a whole token, and in place of each part of a token.
func fuzz(_ input: [UInt8]) {
    check(input)
    let part = padded(input)
    check(joined(part, payload, signature))
    check(joined(header, part, signature))
    check(joined(header, payload, part))
    check(joined(input, payload, signature))
    check(joined(header, input, signature))
    check(joined(header, payload, input))
}

private let header = padded(Array(#"{"alg":"ES256","signer":"s"}"#.utf8))
private let payload = padded(Array("{}".utf8))
private let signature = padded([UInt8](repeating: 1, count: 64))
private let padding = UInt8(ascii: "=")

private func padded(_ octets: [UInt8]) -> [UInt8] {
    let text = Base64URL.encode(octets)
    return text + [UInt8](repeating: padding, count: (4 - text.count % 4) % 4)
}

private func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined(separator: [UInt8(ascii: ".")])) }

private func check(_ token: [UInt8]) {
    guard let jws = try? CompactJWS(padded: token[...]) else { return }
    let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    require(parts.count == 3, "\(shown(token)) has three parts")
    require(parts[1].elementsEqual(padded(jws.payload)), "\(shown(token)) has one form of its payload")
    require(parts[2].elementsEqual(padded(jws.signature)), "\(shown(token)) has one form of its signature")
    require(jws.headerText.elementsEqual(parts[0]), "\(shown(token)) has its header")
    require(jws.headerObject != nil, "\(shown(token)) has a header that can be read again")
    let isJWT = (try? CompactJWS(token[...])) != nil
    require(isJWT == !token.contains(padding), "\(shown(token)) is in one form, if it has padding")
}
