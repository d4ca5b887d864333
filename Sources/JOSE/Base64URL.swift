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
        var collected: Int32 = 0
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, length in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe values.span.withUnsafeBufferPointer { values in
                    unsafe collected = decode(text, values, into: output)
                }
            }
            length = count
        }
        return collected < 0 ? nil : octets
    }

    /// Decodes through pointers: a character takes 7 instructions; with each access checked, it took 11.
    ///
    /// - Returns: all the characters' values together; negative where there is one outside the alphabet, or a last one with
    ///   bits that it has too many.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<Int8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int32 {
        var collected: Int32 = 0
        var index = 0
        var length = 0
        while index + 4 <= text.count {
            let quantum = unsafe quantum(text, index, 4, values)
            collected |= quantum
            unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 16)
            unsafe output[length + 1] = UInt8(truncatingIfNeeded: quantum >> 8)
            unsafe output[length + 2] = UInt8(truncatingIfNeeded: quantum)
            index += 4
            length += 3
        }
        switch text.count - index {
        case 2:
            let quantum = unsafe quantum(text, index, 2, values)
            collected |= quantum | (quantum & 0x0f == 0 ? 0 : -1)
            unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 4)
        case 3:
            let quantum = unsafe quantum(text, index, 3, values)
            collected |= quantum | (quantum & 0x03 == 0 ? 0 : -1)
            unsafe output[length] = UInt8(truncatingIfNeeded: quantum >> 10)
            unsafe output[length + 1] = UInt8(truncatingIfNeeded: quantum >> 2)
        default: break
        }
        return collected
    }

    /// The values of some characters side by side, six bits each.
    @inline(__always)
    private static func quantum(
        _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int, _ values: UnsafeBufferPointer<Int8>
    ) -> Int32 {
        var quantum: Int32 = 0
        for offset in 0..<count { quantum = unsafe quantum << 6 | Int32(values[Int(text[start + offset])]) }
        return quantum
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
