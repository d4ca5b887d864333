/// A block of IP addresses in CIDR notation, or a single address.
package struct AddressBlock: Sendable, Equatable {
    /// 4 or 16 bytes.
    private let octets: [UInt8]
    private let prefixLength: Int

    /// Reads `10.0.0.0/8`, `fd00::/8` or `192.168.1.7`; `nil` for anything else. Bits after the prefix are an error,
    /// because the author of `10.1.2.3/8` may have meant another block.
    ///
    /// - Parameter ignoresHostBits: whether bits after the prefix may have any value instead, as in `NO_PROXY`.
    package init?(_ text: String, ignoringHostBits ignoresHostBits: Bool = false) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let octets = AddressVetting.octets(String(parts[0])) else { return nil }
        var prefixLength = octets.count * 8
        if parts.count == 2 {
            guard let length = Int(parts[1]), String(length) == parts[1], (0...prefixLength).contains(length) else {
                return nil
            }
            prefixLength = length
        }
        self.octets = octets
        self.prefixLength = prefixLength
        guard ignoresHostBits || (prefixLength..<octets.count * 8).allSatisfy({ !Self.bit($0, of: octets) }) else {
            return nil
        }
        // Such a block would never match, because a mapped address counts as its IPv4 address.
        guard !AddressVetting.isMappedIPv4(octets) else { return nil }
    }

    /// The block in its canonical form.
    package var text: String { octets.map(String.init).joined(separator: ".") + "/\(prefixLength)" }

    /// Whether it contains every address of its family.
    package var isEverything: Bool { prefixLength == 0 }

    /// Whether the block contains an address. An IPv4-mapped IPv6 address counts as its IPv4 address.
    package func contains(_ address: String) -> Bool {
        guard var other = AddressVetting.octets(address) else { return false }
        if AddressVetting.isMappedIPv4(other) { other = Array(other.suffix(4)) }
        guard other.count == octets.count else { return false }
        return (0..<prefixLength).allSatisfy { Self.bit($0, of: octets) == Self.bit($0, of: other) }
    }

    private static func bit(_ index: Int, of octets: [UInt8]) -> Bool { octets[index / 8] >> (7 - index % 8) & 1 == 1 }
}
