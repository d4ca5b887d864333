private import Bytes

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
        var collected: UInt32 = 0
        var octets: [UInt8] = []
        // Appended to an empty array: to make one of a given size, the runtime looks its type up in 310 instructions.
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

    /// The octets that a text stands for that may be in the alphabet of base64 (RFC 4648, section 4) as well, or in both, and
    /// with padding: some providers write the members of their keys so. Never for a token: there, each text must stand for
    /// octets of its own.
    static func decodeLeniently(_ text: String) -> [UInt8]? {
        if let octets = decode(text.utf8.span) { return octets }
        guard hasBase64Characters(text) else { return nil }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        let characters = text.utf8.dropLast(padding).map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        return decode(characters.span)
    }

    /// Whether a text has characters that base64 has and base64url has not.
    static func hasBase64Characters(_ text: String) -> Bool {
        let characters = text.utf8.span
        return "+/=".utf8.contains { characters.firstIndex(of: $0) != nil }
    }

    /// Decodes through pointers, four characters by four look-ups: a character takes 4 instructions. With one look-up and a
    /// shift for each it took 7, and 11 with each access checked.
    ///
    /// - Returns: what all characters make together; with ``invalid`` in it where there is one outside the alphabet, or a
    ///   last one with bits that it has too many.
    private static func decode(
        _ text: UnsafeRawBufferPointer, _ decodingTable: UnsafeBufferPointer<UInt32>,
        into output: UnsafeMutableRawBufferPointer
    ) -> UInt32 {
        var collected: UInt32 = 0
        var index = 0
        var length = 0
        // Four octets are written for three, and what is one too many is written over; so the last three come apart.
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
        // A last character of two or three has bits of an octet that is not there.
        if text.count % 4 != 0, quantum & 0xff != 0 { collected |= invalid }
        return collected
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

    /// What each character adds to three octets, the first of them lowest, at each of its four positions; ``invalid`` where it
    /// is not of the alphabet, so that one test at the end finds any.
    ///
    /// An array, since an `InlineArray` of this size was copied as a whole each time.
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

    /// A bit beyond the three octets.
    private static let invalid: UInt32 = 0x0100_0000
}
