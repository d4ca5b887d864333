@testable import Keys
import Testing

/// The blocks of the IANA special-purpose registries. Each is tested with the address before it, its first, its last,
/// and the next address.
@Suite struct AddressVettingTests {
    @Test(
        arguments: [
            (nil, "0.0.0.0", "0.255.255.255", "1.0.0.0"),
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
            ("223.255.255.255", "224.0.0.0", "255.255.255.255", nil),
        ] as [(String?, String, String, String?)])
    func `IPv4 blocks that lead inside end where they end`(before: String?, first: String, last: String, after: String?)
    {
        for inside in [first, last] {
            #expect(!AddressVetting.isPublic(inside))
            for embedded in Self.embedded(inside) { #expect(!AddressVetting.isPublic(embedded), "\(embedded)") }
        }
        for outside in [before, after].compactMap(\.self) {
            #expect(AddressVetting.isPublic(outside))
            for embedded in Self.embedded(outside) { #expect(AddressVetting.isPublic(embedded), "\(embedded)") }
        }
    }

    /// The IPv6 addresses that embed an IPv4 address: mapped, NAT64, 6to4.
    private static func embedded(_ address: String) -> [String] {
        let octets = address.split(separator: ".").map { UInt16($0)! }
        let high = String(octets[0] << 8 | octets[1], radix: 16)
        let low = String(octets[2] << 8 | octets[3], radix: 16)
        return [
            "::ffff:\(address)", "::FFFF:\(high):\(low)", "0:0:0:0:0:ffff:\(address)", "64:ff9b::\(address)",
            "64:ff9b::\(high):\(low)", "2002:\(high):\(low)::", "2002:\(high):\(low):ffff:ffff:ffff:ffff:ffff",
        ]
    }

    @Test(arguments: [
        ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ("2000::", true),
        ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        // Teredo and other protocol assignments, 2001::/23.
        ("2001::", false), ("2001:0:ffff:ffff:ffff:ffff:ffff:ffff", false), ("2001:20::", false),
        ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", false), ("2001:200::", true),
        // Documentation.
        ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", true), ("2001:db8::", false),
        ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", false), ("2001:db9::", true),
        ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true), ("3fff::", false),
        ("3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false), ("3fff:1000::", true),
        ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true), ("4000::", false),
        ("2606:4700::1111", true), ("2a00:1450:4001::1", true),
        // Loopback, unspecified, IPv4-compatible, NAT64 for local use, discard, unique local, link-local, site-local,
        // multicast, segment routing.
        ("::", false), ("::1", false), ("::2", false), ("::8.8.8.8", false), ("64:ff9b:1::8.8.8.8", false),
        ("64:ff9b::1:0:0:808:808", false), ("64:ff9a::8.8.8.8", false), ("100::", false), ("100:0:0:1::", false),
        ("fc00::", false), ("fd00:ec2::254", false), ("fdff:ffff::", false), ("fe80::1", false), ("febf::", false),
        ("fec0::", false),
        ("ff02::1", false), ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false), ("5f00::", false),
        ("::fffe:8.8.8.8", false), ("::ffff:0:8.8.8.8", false),
    ])
    func `of IPv6 only global unicast is public`(address: String, isPublic: Bool) {
        #expect(AddressVetting.isPublic(address) == isPublic)
    }

    @Test(arguments: [
        "", " ", "localhost", "example.com", "8.8.8", "8.8.8.8.8", "8.8.8.8 ", " 8.8.8.8", "8.8.8.256", "8.8.8.-1",
        "0x8.8.8.8",
        "134744072", "8.8.8.8/32", "8.8.8.8:443", "[2606:4700::1111]", "2606:4700::1111%eth0", "fe80::1%1",
        "2606:4700:::1",
        "８.8.8.8", "unix:/run/x",
    ])
    func `what is no address is not public`(text: String) {
        #expect(!AddressVetting.isPublic(text))
    }
}
