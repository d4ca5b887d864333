/// The slot of a key in a cluster, which determines its node.
///
/// See *Valkey cluster specification*, *Key distribution model* and *Hash tags*.
enum KeySlot {
    static let count: UInt16 = 16_384

    static func slot(of key: [UInt8]) -> UInt16 { checksum(of: hashed(key)) % count }

    /// The text in the first braces, unless it is empty; otherwise the whole key.
    private static func hashed(_ key: [UInt8]) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return key[...] }
        return key[(open + 1)..<close]
    }

    /// CRC-16/XMODEM.
    private static func checksum(of octets: ArraySlice<UInt8>) -> UInt16 {
        octets.reduce(0) { checksum, octet in
            (0..<8).reduce(checksum ^ UInt16(octet) << 8) { value, _ in
                value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
            }
        }
    }
}
