@testable import Keys
import Testing

@Suite struct NameResolverTests {
    private let resolver = NameResolver()

    @Test func `this machine has an address, of loopback`() async throws {
        let addresses = try await resolver.addresses(of: "localhost")
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0 == "::1" || $0.hasPrefix("127.") }, "\(addresses)")
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("::1", "::1"),
        ("0:0:0:0:0:0:0:1", "::1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"), ("2001:DB8::1", "2001:db8::1"),
    ])
    func `an address is its own, once, as the system writes it`(host: String, address: String) async throws {
        #expect(try await resolver.addresses(of: host) == [address])
    }

    /// RFC 6761: `invalid` never resolves. Labels have at most 63 letters.
    @Test(arguments: ["assay-test.invalid", String(repeating: "a", count: 64) + ".example", "a..b", "256.256.256.256"])
    func `a name that can't exist has none`(host: String) async {
        let failure = await #expect(throws: FetchFailure.self) { try await resolver.addresses(of: host) }
        #expect(failure == FetchFailure(.dns, "the host name has no address"))
    }

    @Test func `concurrent lookups of a name share the result`() async throws {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<60 {
                group.addTask { try await resolver.addresses(of: "127.0.0.\(number % 3)") }
            }
            var counts: [[String]: Int] = [:]
            for try await addresses in group { counts[addresses, default: 0] += 1 }
            #expect(counts == [["127.0.0.0"]: 20, ["127.0.0.1"]: 20, ["127.0.0.2"]: 20])
        }
        // It is resolved again later.
        #expect(try await resolver.addresses(of: "127.0.0.1") == ["127.0.0.1"])
    }
}
