/// Base64url as JOSE writes it: RFC 7515, section 2, which is RFC 4648, section 5 without padding.
///
/// Strict, so that no two texts stand for the same octets: no padding, no white space, no other alphabet, and the bits
/// that a last character has too many must be zero (RFC 4648, section 3.5).
package enum Base64URL {
    /// The octets that `text` stands for; `nil` where it is no base64url.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let (whole, rest) = text.count.quotientAndRemainder(dividingBy: 4)
        guard rest != 1 else { return nil }
        let count = whole * 3 + (rest == 0 ? 0 : rest - 1)
        // Every character's value is collected here; a character outside the alphabet sets the sign bit.
        var collected: Int32 = 0
        let octets = [UInt8](capacity: count) { output in
            var index = 0
            for _ in 0..<whole {
                let quantum =
                    value(of: text[index]) << 18 | value(of: text[index + 1]) << 12
                    | value(of: text[index + 2]) << 6 | value(of: text[index + 3])
                collected |= quantum
                output.append(UInt8(truncatingIfNeeded: quantum >> 16))
                output.append(UInt8(truncatingIfNeeded: quantum >> 8))
                output.append(UInt8(truncatingIfNeeded: quantum))
                index += 4
            }
            if rest == 2 {
                let quantum = value(of: text[index]) << 6 | value(of: text[index + 1])
                collected |= quantum | (quantum & 0x0f == 0 ? 0 : -1)
                output.append(UInt8(truncatingIfNeeded: quantum >> 4))
            } else if rest == 3 {
                let quantum =
                    value(of: text[index]) << 12 | value(of: text[index + 1]) << 6 | value(of: text[index + 2])
                collected |= quantum | (quantum & 0x03 == 0 ? 0 : -1)
                output.append(UInt8(truncatingIfNeeded: quantum >> 10))
                output.append(UInt8(truncatingIfNeeded: quantum >> 2))
            }
        }
        return collected < 0 ? nil : octets
    }

    /// The canonical text of `octets`.
    package static func encode(_ octets: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for octet in octets {
            pending = pending << 8 | UInt32(octet)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(pending >> bits & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(pending << (6 - bits) & 63)]) }
        return text
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The six bits of a character; negative outside the alphabet, so that one test at the end finds any.
    @inline(__always)
    private static func value(of character: UInt8) -> Int32 {
        Int32(values[Int(character)])
    }

    private static let values: InlineArray<256, Int8> = {
        var values = InlineArray<256, Int8>(repeating: -1)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = Int8(value) }
        return values
    }()
}
