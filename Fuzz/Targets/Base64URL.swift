import JOSE

/// Base64url is decoded according to RFC 4648, checked bit by bit, and only canonical encodings are accepted.
func fuzz(_ input: [UInt8]) {
    check(decoding: input)
    // Random octets fail at the first one, so map them to the alphabet too.
    check(decoding: input.map { alphabet[Int($0 & 63)] })
    let text = Base64URL.encode(input)
    require(Base64URL.decode(text.span) == input, "octets are the same after encoding and decoding")
}

private func check(decoding text: [UInt8]) {
    let octets = Base64URL.decode(text.span)
    require(octets == decodedBitByBit(text), "\(shown(text)) decodes to what its bits say")
    if let octets { require(Base64URL.encode(octets) == text, "\(shown(text)) is the only text of its octets") }
}

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

/// An independent decoder: concatenates all bits and splits them into octets. Leftover bits must be zero.
private func decodedBitByBit(_ text: [UInt8]) -> [UInt8]? {
    var bits: [UInt8] = []
    for character in text {
        guard let value = alphabet.firstIndex(of: character) else { return nil }
        for place in (0..<6).reversed() { bits.append(UInt8(value >> place & 1)) }
    }
    let rest = bits.suffix(bits.count % 8)
    // Six leftover bits are a character that contributes to no octet.
    guard rest.count < 6, rest.allSatisfy({ $0 == 0 }) else { return nil }
    return stride(from: 0, to: bits.count - rest.count, by: 8).map { start in
        bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
    }
}
