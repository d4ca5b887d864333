/// Hand-made compressed data: the parts of RFC 1950 to 1952 that the tests need.
enum Packed {
    /// A gzip file (RFC 1952).
    static func gzip(_ octets: [UInt8]) -> [UInt8] {
        gzip(deflated: stored(octets), checksum: crc32(octets), count: octets.count)
    }

    /// A zlib stream (RFC 1950), which HTTP calls `deflate`.
    static func zlib(_ octets: [UInt8]) -> [UInt8] { [0x78, 0x01] + stored(octets) + bigEndian(adler32(octets)) }

    /// A gzip file that decompresses to a text followed by `count` times 258 spaces, each run taking 13 bits.
    ///
    /// - Parameter isBomb: whether to leave out the checksum, which no reader reaches.
    static func gzip(_ text: [UInt8], spaces count: Int, isBomb: Bool = false) -> [UInt8] {
        let whole = isBomb ? [] : text + [UInt8](repeating: 0x20, count: 1 + 258 * count)
        return gzip(
            deflated: storedBlock(text[...], isLast: false) + spaces(count), checksum: crc32(whole), count: whole.count)
    }

    private static func gzip(deflated: [UInt8], checksum: UInt32, count: Int) -> [UInt8] {
        let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
        return head + deflated + bigEndian(checksum).reversed() + bigEndian(UInt32(count)).reversed()
    }

    // MARK: Deflate (RFC 1951)

    private static func stored(_ octets: [UInt8]) -> [UInt8] {
        var blocks: [UInt8] = []
        var rest = octets[...]
        repeat {
            let block = rest.prefix(0xffff)
            rest = rest.dropFirst(block.count)
            blocks += storedBlock(block, isLast: rest.isEmpty)
        } while !rest.isEmpty
        return blocks
    }

    private static func storedBlock(_ octets: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
        let count = UInt16(octets.count)
        let lengths = [count, ~count].flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        return [isLast ? 1 : 0] + lengths + octets
    }

    /// The last block, with fixed Huffman codes: a space, then `count` repeats of 258 octets at distance 1.
    private static func spaces(_ count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        var pending: UInt64 = 0
        var filled: UInt64 = 0
        // Least significant bit first.
        func append(_ bits: UInt64, _ number: UInt64) {
            pending |= bits << filled
            filled += number
            while filled >= 8 {
                octets.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                filled -= 8
            }
        }
        append(0b0000_1010_011, 11)
        for _ in 0..<count { append(0b00000_10100011, 13) }
        append(0, 7)
        append(0, 7)
        return octets
    }

    // MARK: Checksums

    private static func crc32(_ octets: [UInt8]) -> UInt32 {
        ~octets.reduce(~0 as UInt32) { checksum, octet in
            (0..<8).reduce(checksum ^ UInt32(octet)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xedb8_8320 : 0) }
        }
    }

    private static func adler32(_ octets: [UInt8]) -> UInt32 {
        let (low, high) = octets.reduce((1 as UInt32, 0 as UInt32)) { sums, octet in
            let low = (sums.0 + UInt32(octet)) % 65521
            return (low, (sums.1 + low) % 65521)
        }
        return high << 16 | low
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
