@testable import Keys
import Testing

@Suite struct AddressBlockTests {
    @Test(
        arguments: [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "10.1.2.3"], ["9.255.255.255", "11.0.0.0", "::10.0.0.0"]),
            ("192.168.4.0/22", ["192.168.4.0", "192.168.7.255"], ["192.168.3.255", "192.168.8.0"]),
            ("172.16.0.0/12", ["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]),
            ("127.0.0.1", ["127.0.0.1"], ["127.0.0.0", "127.0.0.2", "::1"]),
            ("127.0.0.1/32", ["127.0.0.1"], ["127.0.0.0", "127.0.0.2"]),
            ("192.0.2.2/31", ["192.0.2.2", "192.0.2.3"], ["192.0.2.1", "192.0.2.4"]),
            ("128.0.0.0/1", ["128.0.0.0", "255.255.255.255"], ["127.255.255.255"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:8.8.8.8"], ["::", "::1"]),
            ("::1", ["::1", "0:0:0:0:0:0:0:1"], ["::", "::2", "127.0.0.1", "::ffff:127.0.0.1"]),
            ("fd00::/8", ["fd00::", "fdff:ffff::1"], ["fc00::", "fe00::", "10.0.0.1"]),
            ("fe80::/10", ["fe80::", "febf:ffff::"], ["fe7f:ffff::", "fec0::"]),
            ("2001:db8::/33", ["2001:db8::", "2001:db8:7fff:ffff::"], ["2001:db8:8000::", "2001:db7:ffff::"]),
            ("2001:db8::4/127", ["2001:db8::4", "2001:db8::5"], ["2001:db8::3", "2001:db8::6"]),
            ("2001:DB8::5/128", ["2001:db8::5"], ["2001:db8::4", "2001:db8::6"]),
            ("::/0", ["::", "ffff:ffff::"], ["0.0.0.0", "10.0.0.1", "::ffff:10.0.0.1"]),
        ] as [(String, [String], [String])])
    func `a block holds its addresses from the first to the last`(
        text: String, inside: [String], outside: [String]
    ) throws {
        let block = try #require(AddressBlock(text))
        for address in inside { #expect(block.contains(address), "\(address)") }
        for address in outside { #expect(!block.contains(address), "\(address)") }
    }

    @Test func `an IPv4 address in the form of an IPv6 one belongs to the IPv4 block`() throws {
        let block = try #require(AddressBlock("10.0.0.0/8"))
        for address in ["::ffff:10.1.2.3", "::FFFF:a01:203", "0:0:0:0:0:ffff:10.0.0.0"] {
            #expect(block.contains(address), "\(address)")
        }
        // IPv4-compatible, NAT64 and 6to4 addresses don't match, because they are routed elsewhere.
        for address in ["::10.1.2.3", "64:ff9b::10.1.2.3", "2002:a01:203::", "::fffe:10.1.2.3", "::ffff:0:10.1.2.3"] {
            #expect(!block.contains(address), "\(address)")
        }
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8/8",
        "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0 /8", "10.0.0.0/ 8", "10.0.0.0/255.0.0.0", "10.0.0/8", "10/8",
        "10.0.0.0/８",
        "10.0.0.0/0x8", "10.0.0.0/8.0", "010.0.0.0/8", "0x0a.0.0.0/8", "10.0.0.256", "10.0.0.0.0/8", "localhost",
        "example.com/8", "10.*", "10.0.0.0-10.255.255.255", "::/129", "::1/-1", "[::1]", "[::]/0", "fe80::1%eth0",
        "fe80::%eth0/64", "fd00:::/8", "::g", "10.0.0.0\\8", "10.0.0.0/99999999999999999999",
        // A NUL must not end the text early.
        "127.0.0.1\u{0}", "10.0.0.0\u{0}x/8", "::1\u{0}.example",
    ])
    func `nothing else is a block`(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    /// These are ambiguous: the operator may have meant another block.
    @Test(arguments: [
        "10.0.0.1/8", "10.1.0.0/8", "10.128.0.0/8", "0.0.0.1/0", "128.0.0.0/0", "192.168.5.0/22", "192.0.2.3/31",
        "fd00::1/8", "fe80::1/10", "2001:db8:8000::/32", "::1/127", "8000::/0",
    ])
    func `bits behind the prefix are refused`(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    /// IPv4-mapped addresses are checked against the IPv4 block only.
    @Test(arguments: ["::ffff:10.0.0.0/104", "::ffff:0:0/96", "::ffff:10.0.0.1", "::ffff:a00:1/128"])
    func `a block of IPv4 addresses in the form of IPv6 ones is refused`(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test func `a block of every address is known as one`() throws {
        for (text, isEverything) in [("0.0.0.0/0", true), ("::/0", true), ("0.0.0.0/1", false), ("::", false)] {
            #expect(try #require(AddressBlock(text)).isEverything == isEverything, "\(text)")
        }
    }

    @Test func `blocks are the same where they are written alike in effect`() {
        #expect(AddressBlock("10.0.0.1") == AddressBlock("10.0.0.1/32"))
        #expect(AddressBlock("::1") == AddressBlock("0:0:0:0:0:0:0:1/128"))
        #expect(AddressBlock("10.0.0.0/8") != AddressBlock("10.0.0.0/9"))
        #expect(AddressBlock("0.0.0.0/0") != AddressBlock("::/0"))
    }

    @Test(arguments: ["", "localhost", "10.0.0.0/8", "10.0.0", "10.0.0.1 ", "10.0.0.1\u{0}"])
    func `what is no address is in no block`(text: String) throws {
        #expect(try !#require(AddressBlock("0.0.0.0/0")).contains(text))
        #expect(try !#require(AddressBlock("::/0")).contains(text))
    }

    // MARK: Applying the rules

    @Test func `an address is allowed where it is public, named, or where any is`() throws {
        var rules = NetworkRules()
        #expect(rules.allows("8.8.8.8"))
        #expect(!rules.allows("10.0.0.1"))
        rules.allowedAddresses = [try #require(AddressBlock("10.0.0.0/8")), try #require(AddressBlock("::1"))]
        for address in ["8.8.8.8", "10.0.0.1", "::ffff:10.0.0.1", "::1", "2606:4700::1111"] {
            #expect(rules.allows(address), "\(address)")
        }
        for address in ["127.0.0.1", "169.254.169.254", "192.168.0.1", "::2", "fd00::1", "::ffff:127.0.0.1"] {
            #expect(!rules.allows(address), "\(address)")
        }
        rules.allowPrivateAddresses = true
        #expect(rules.allows("169.254.169.254"))
    }
}
