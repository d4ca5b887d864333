private import Bytes

/// Base64url as JOSE uses it: RFC 7515, section 2, which is RFC 4648, section 5 without padding.
///
/// Decoding is strict, so that no two texts decode to the same bytes: no padding, no white space, no other alphabet,
/// and unused bits of the last character must be zero (RFC 4648, section 3.5).
package enum Base64URL {
    /// Decodes `text`; returns `nil` if it is not base64url.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        let (whole, rest) = text.count.quotientAndRemainder(dividingBy: 4)
        guard rest != 1 else { return nil }
        let count = whole * 3 + (rest == 0 ? 0 : rest - 1)
        var collected: UInt32 = 0
        var octets: [UInt8] = []
        // Appends to an empty array: creating one with a given size takes 310 more instructions, because the runtime
        // looks up its type.
        octets.append(addingCapacity: count) { octets in
            unsafe octets.withUnsafeMutableBufferPointer { output, length in
                let output = UnsafeMutableRawBufferPointer(output)
                unsafe text.withUnsafeBytes { text in
                    unsafe decodingTable.withUnsafeBufferPointer { unsafe collected = decode(text, $0, into: output) }
                }
                length = count
            }
        }
        return collected & invalid == 0 ? octets : nil
    }

    /// Decodes base64 or base64url, or a mix of both, with or without padding (RFC 4648, sections 4 and 5), because
    /// some providers encode their keys that way. Never use it for a token, where each text must decode to
    /// different bytes.
    package static func decodeLeniently(_ text: String) -> [UInt8]? {
        guard hasBase64Characters(text) else { return decode(text.utf8.span) }
        let text = text.utf8.span
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        return decode(translated(text.extracting(..<end), by: lenientTable).span)
    }

    /// Decodes base64 with the standard alphabet and padding (RFC 4648, section 4), in any number of lines.
    package static func decodeLines(_ text: Span<UInt8>) -> [UInt8]? {
        decode(padded: translated(text, by: lineTable)[...])
    }

    /// Decodes base64url with padding: a multiple of four characters, of which the last one or two may be `=`. As
    /// without padding, no two texts decode to the same bytes.
    static func decode(padded text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return decode(text.span.extracting(..<(text.count - padding)))
    }

    /// Replaces characters by those of base64url, without a branch for each: a `switch` took 16 instructions for a character.
    ///
    /// - Parameter table: the new character by the old one; ``skipped`` for one that is left out.
    private static func translated(_ text: Span<UInt8>, by table: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        characters.append(addingCapacity: text.count) { output in
            unsafe output.withUnsafeMutableBufferPointer { output, length in
                unsafe table.withUnsafeBufferPointer { table in
                    for index in text.indices {
                        let character = unsafe table[Int(text[index])]
                        unsafe output[length] = character
                        length &+= character == skipped ? 0 : 1
                    }
                }
            }
        }
        return characters
    }

    private static let skipped: UInt8 = 0x20

    /// Both alphabets.
    private static let lenientTable: [UInt8] = {
        var table = (0...255).map { UInt8($0) == skipped ? 0 : UInt8($0) }
        table[Int(UInt8(ascii: "+"))] = UInt8(ascii: "-")
        table[Int(UInt8(ascii: "/"))] = UInt8(ascii: "_")
        return table
    }()

    /// The standard alphabet, and white space.
    private static let lineTable: [UInt8] = {
        var table = lenientTable
        table[Int(UInt8(ascii: "-"))] = 0
        table[Int(UInt8(ascii: "_"))] = 0
        for space in [0x09, 0x0a, 0x0d, 0x20] { table[space] = skipped }
        return table
    }()

    /// Whether a string has characters that occur only in base64, not in base64url.
    static func hasBase64Characters(_ text: String) -> Bool {
        let characters = text.utf8.span
        return "+/=".utf8.contains { characters.firstIndex(of: $0) != nil }
    }

    /// Decodes through pointers, four characters with four table lookups. A character takes 4 instructions; with one
    /// lookup and a shift for each it took 7, and 11 with bounds checks.
    ///
    /// - Returns: all decoded values combined with OR. It contains ``invalid`` if a character is outside the alphabet,
    ///   or if the last one has unused bits that are not zero.
    private static func decode(
        _ text: UnsafeRawBufferPointer, _ decodingTable: UnsafeBufferPointer<UInt32>,
        into output: UnsafeMutableRawBufferPointer
    ) -> UInt32 {
        var collected: UInt32 = 0
        var index = 0
        var length = 0
        // Four bytes are written for three, and the next write overwrites the fourth. So the last three are written one
        // by one.
        let last = text.count &- 4
        while index < last {
            var quantum: UInt32 = 0
            for position in 0..<4 { quantum |= unsafe decodingTable[position << 8 | Int(text[index + position])] }
            collected |= quantum
            unsafe output.storeBytes(of: quantum.littleEndian, toByteOffset: length, as: UInt32.self)
            index &+= 4
            length &+= 3
        }
        var quantum: UInt32 = 0
        for position in 0..<(text.count - index) {
            quantum |= unsafe decodingTable[position << 8 | Int(text[index + position])]
        }
        collected |= quantum
        while length < output.count {
            unsafe output[length] = UInt8(truncatingIfNeeded: quantum)
            quantum &>>= 8
            length += 1
        }
        // A last group of two or three characters has unused bits, which must be zero.
        if text.count % 4 != 0, quantum & 0xff != 0 { collected |= invalid }
        return collected
    }

    /// The canonical encoding of `octets`.
    package static func encode(_ octets: [UInt8]) -> [UInt8] { encode(octets.span) }

    /// The canonical encoding of `octets`.
    package static func encode(_ octets: Span<UInt8>) -> [UInt8] {
        let alphabet = alphabet
        return [UInt8](capacity: (octets.count * 4 + 2) / 3) { text in
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
        }
    }

    /// Appends the base64 of `octets` with the standard alphabet and padding (RFC 4648, section 4): in HTTP, not in
    /// JOSE.
    package static func appendStandard(_ octets: Span<UInt8>, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + standardLength(octets.count))
        for start in stride(from: 0, to: octets.count, by: 3) {
            let length = min(3, octets.count - start)
            var quantum: UInt32 = 0
            for index in 0..<3 { quantum = quantum << 8 | (index < length ? UInt32(octets[start + index]) : 0) }
            for index in 0..<4 {
                let value = Int(quantum >> (18 - 6 * UInt32(index)) & 63)
                text.append(index > length ? UInt8(ascii: "=") : standardAlphabet[value])
            }
        }
    }

    /// The length of the base64 of this many octets, with padding.
    package static func standardLength(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    private static let standardAlphabet = alphabet.dropLast(2) + Array("+/".utf8)

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The bits that each character contributes to three bytes, the first byte lowest, at each of its four positions.
    /// ``invalid`` for a character outside the alphabet, so that one test at the end finds any.
    ///
    /// An array, because an `InlineArray` of this size was copied each time.
    private static let decodingTable: [UInt32] = {
        var decodingTable = [UInt32](repeating: invalid, count: 1024)
        for (value, character) in alphabet.enumerated() {
            let (value, character) = (UInt32(value), Int(character))
            decodingTable[character] = value << 2
            decodingTable[0x100 | character] = value >> 4 | (value & 0x0f) << 12
            decodingTable[0x200 | character] = (value >> 2) << 8 | (value & 0x03) << 22
            decodingTable[0x300 | character] = value << 16
        }
        return decodingTable
    }()

    /// A bit beyond the three bytes.
    private static let invalid: UInt32 = 0x0100_0000
}
