private import Glibc
package import HTTP
private import JOSE

/// The network rules of one provider.
package struct NetworkRules: Sendable, Equatable {
    package var allowHTTP = false
    /// Whether every URL must have the default port of `https`, unless ``allowHTTP`` is set: callers name the servers.
    package var requiresDefaultPort = false
    /// Whether the rules are of an entry with many issuers, whose fetches share resources with care.
    package var isOfManyIssuers = false
    /// Whether fetches may connect to any address.
    package var allowPrivateAddresses = false
    /// Whether the provider is one of `assay dev`, whose keys nothing else trusts.
    package var acceptsDevelopmentKeys = false
    /// Addresses outside the public Internet to which fetches may connect.
    package var allowedAddresses: [AddressBlock] = []
    /// A PEM file with CA certificates to trust in addition to the system's.
    package var caFile: String?
    /// The system waits five seconds before it asks the next name server.
    package var nameTimeout = Interval.seconds(6)
    package var connectTimeout = Interval.seconds(3)
    /// Until the first byte of a response, and between any two bytes.
    package var idleTimeout = Interval.seconds(5)
    /// For one document: name, connection, redirects, body.
    package var totalTimeout = Interval.seconds(10)
    /// The minimum transfer rate of a body, in bytes per second. A slower fetch is aborted.
    package var minimumRate: Int64 = 1024
    /// When the rate is first checked.
    package var minimumRateAfter = Interval.seconds(3)
    /// In bytes, after decompression.
    package var maximumBody = 512 * 1024
    package var maximumKeys = JWKSet.maximumKeys
    /// In bytes on the wire beyond ``maximumBody``, for heads, chunk sizes and TLS.
    package var maximumOverhead = 128 * 1024
    package var maximumRedirects = 3
    /// The maximum number of a host's addresses to try.
    package var maximumAddresses = 3

    package init() {}

    /// The rules that decide which servers a fetch trusts.
    var trust: String {
        let blocks = allowedAddresses.map(\.text).joined(separator: ",")
        return (requiresDefaultPort ? "port=443 " : "")
            + "http=\(allowHTTP) private=\(allowPrivateAddresses) addresses=\(blocks) ca=\(caFile ?? "")"
    }

    /// Reads a URL to which requests may be sent.
    ///
    /// - Throws: ``FetchFailure`` with the reason, without repeating the URL.
    package func url(_ text: String) throws(FetchFailure) -> FetchURL {
        let url = try FetchURL(text, allowingHTTP: allowHTTP)
        guard !requiresDefaultPort || allowHTTP || url.port == 443 else {
            throw FetchFailure(.address, "the URL has a port other than 443; use the default port of https")
        }
        return url
    }

    /// Whether a fetch may connect to an address.
    func allows(_ address: String) -> Bool {
        allowPrivateAddresses || AddressVetting.isPublic(address) || allowedAddresses.contains { $0.contains(address) }
    }
}

/// Decides to which network addresses a fetch may connect.
///
/// A provider's URLs, including redirects, must not make the service connect to its own network: cloud metadata, the
/// host itself, neighbours. Therefore the address is checked, not the name.
enum AddressVetting {
    /// Whether an address is on the public Internet: unicast, and not in a special-purpose block of the IANA registries
    /// (RFC 6890 and its updates) that can lead to an internal network.
    ///
    /// - Parameter address: an IPv4 or IPv6 address; anything else is not public.
    static func isPublic(_ address: String) -> Bool {
        guard let octets = octets(address) else { return false }
        return octets.count == 4 ? isPublicIPv4(octets) : isPublicIPv6(octets)
    }

    /// The 4 or 16 bytes of an address.
    static func octets(_ address: String) -> [UInt8]? {
        octets(of: address, family: AF_INET, count: 4) ?? octets(of: address, family: AF_INET6, count: 16)
    }

    /// Whether 16 bytes are an IPv4-mapped IPv6 address: `::ffff:0:0/96`.
    static func isMappedIPv4(_ octets: [UInt8]) -> Bool {
        octets.count == 16 && octets.prefix(10).allSatisfy { $0 == 0 } && octets[10] == 0xff && octets[11] == 0xff
    }

    /// Whether a string is an IPv6 address.
    static func isIPv6(_ text: String) -> Bool { octets(of: text, family: AF_INET6, count: 16) != nil }

    private static func octets(of address: String, family: CInt, count: Int) -> [UInt8]? {
        // C functions stop at a NUL.
        guard !address.utf8.contains(0) else { return nil }
        var octets = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, address, &octets) == 1 ? octets : nil
    }

    static func isPublicIPv4(_ octets: [UInt8]) -> Bool {
        switch (octets[0], octets[1], octets[2]) {
        case (0, _, _), (10, _, _), (127, _, _): false  // this network, private, loopback
        case (100, 64...127, _): false  // shared address space of carriers
        case (169, 254, _): false  // link-local, cloud metadata
        case (172, 16...31, _), (192, 168, _): false  // private
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): false  // protocol assignments, documentation
        case (198, 18...19, _): false  // benchmarks
        case (224..., _, _): false  // multicast, reserved, broadcast
        default: true
        }
    }

    static func isPublicIPv6(_ octets: [UInt8]) -> Bool {
        let isNAT64 = octets.prefix(12).elementsEqual([0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
        if isMappedIPv4(octets) || isNAT64 { return isPublicIPv4(Array(octets.suffix(4))) }
        if octets[0] == 0x20, octets[1] == 0x02 { return isPublicIPv4(Array(octets[2..<6])) }  // 6to4
        // Global unicast is 2000::/3; everything else is loopback, unique local, link-local, multicast or unassigned.
        guard octets[0] & 0xe0 == 0x20 else { return false }
        switch (octets[0], octets[1], octets[2], octets[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0d, 0xb8): return false  // Teredo and others, documentation
        case (0x3f, 0xff, 0x00...0x0f, _): return false  // documentation
        default: return true
        }
    }
}

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
