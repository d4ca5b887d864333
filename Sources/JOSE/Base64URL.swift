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
        // Through pointers: with each access checked, a character took eleven instructions.
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, length in
            unsafe text.withUnsafeBufferPointer { text in
                let values = values
                func value(_ index: Int) -> Int32 { unsafe Int32(values[Int(text[index])]) }
                var index = 0
                for _ in 0..<whole {
                    let quantum =
                        value(index) << 18 | value(index + 1) << 12 | value(index + 2) << 6 | value(index + 3)
                    collected |= quantum
                    unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 16)
                    unsafe output[length + 1] = UInt8(truncatingIfNeeded: quantum >> 8)
                    unsafe output[length + 2] = UInt8(truncatingIfNeeded: quantum)
                    index += 4
                    length += 3
                }
                if rest == 2 {
                    let quantum = value(index) << 6 | value(index + 1)
                    collected |= quantum | (quantum & 0x0f == 0 ? 0 : -1)
                    unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 4)
                    length += 1
                } else if rest == 3 {
                    let quantum = value(index) << 12 | value(index + 1) << 6 | value(index + 2)
                    collected |= quantum | (quantum & 0x03 == 0 ? 0 : -1)
                    unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 10)
                    unsafe output[length + 1] = UInt8(truncatingIfNeeded: quantum >> 2)
                    length += 2
                }
            }
        }
        return collected < 0 ? nil : octets
    }

    /// The canonical text of `octets`.
    package static func encode(_ octets: [UInt8]) -> [UInt8] { encode(octets.span) }

    /// The canonical text of `octets`.
    package static func encode(_ octets: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for index in octets.indices {
            pending = pending << 8 | UInt32(octets[index])
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

    /// The six bits of each character; negative outside the alphabet, so that one test at the end finds any.
    private static let values: InlineArray<256, Int8> = {
        var values = InlineArray<256, Int8>(repeating: -1)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = Int8(value) }
        return values
    }()
}
