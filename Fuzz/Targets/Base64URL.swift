import JOSE

/// Base64url decodes as RFC 4648 says, taken bit by bit, and only what encoding writes decodes at all.
func fuzz(_ input: [UInt8]) {
    check(decoding: input)
    // Junk is refused at its first octet; letters of the alphabet alone get further.
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

/// The same by another way: all bits in a row, cut into octets, and only zeros left over.
private func decodedBitByBit(_ text: [UInt8]) -> [UInt8]? {
    var bits: [UInt8] = []
    for character in text {
        guard let value = alphabet.firstIndex(of: character) else { return nil }
        for place in (0..<6).reversed() { bits.append(UInt8(value >> place & 1)) }
    }
    let rest = bits.suffix(bits.count % 8)
    // Six bits are a character that begins no octet.
    guard rest.count < 6, rest.allSatisfy({ $0 == 0 }) else { return nil }
    return stride(from: 0, to: bits.count - rest.count, by: 8).map { start in
        bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
    }
}
