@testable import SignIns
import Testing

@Suite struct RESPReaderTests {
    private static func replies(_ text: String, chunk: Int) throws(RESPError) -> [RESPReply] {
        var reader = RESPReader()
        var replies: [RESPReply] = []
        let octets = Array(text.utf8)
        for start in stride(from: 0, to: octets.count, by: chunk) {
            reader.append(octets[start..<min(start + chunk, octets.count)])
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `replies are the same however the octets are cut`(chunk: Int) throws {
        let text =
            "+OK\r\n$-1\r\n:42\r\n:-1\r\n$5\r\nab\r\nc\r\n$0\r\n\r\n-MOVED 3999 127.0.0.1:6381\r\n+\r\n*2\r\n$1\r\na\r\n$0\r\n\r\n*0\r\n"
        #expect(
            try Self.replies(text, chunk: chunk) == [
                .simple(Array("OK".utf8)), .null, .integer(42), .integer(-1), .bulk(Array("ab\r\nc".utf8)), .bulk([]),
                .error(Array("MOVED 3999 127.0.0.1:6381".utf8)), .simple([]), .array([Array("a".utf8), []]), .array([]),
            ])
    }

    @Test(arguments: [
        "OK\r\n", "*1\r\n:1\r\n", "*1\r\n$-1\r\n", "*2\r\n$0\r\n\r\n*0\r\n", "*17\r\n", "*-1\r\n", "_\r\n", "%1\r\n",
        "\r\n",
        "+OK\n", "+OK\rX", "+O\nK\r\n",
        ":\r\n", ":+1\r\n", ":01\r\n", ":-0\r\n", ":1 \r\n", ":1a\r\n", ":9223372036854775808\r\n",
        "$-2\r\n", "$16385\r\n", "$1\r\nab\r\n", "$1\r\na\rb", "$01\r\na\r\n", "$\r\n", "$99999999999999999999\r\n",
    ])
    func `what is not exactly the protocol is refused`(text: String) {
        #expect(throws: RESPError()) { try Self.replies(text, chunk: 1) }
        #expect(throws: RESPError()) { try Self.replies(text, chunk: 1000) }
    }

    @Test func `a line has a bound, whether it ends or not`() throws {
        let longest = "+" + String(repeating: "a", count: RESPReader.maximumLine)
        #expect(try Self.replies(longest + "\r\n", chunk: 100).count == 1)
        #expect(throws: RESPError()) { try Self.replies(longest + "a\r\n", chunk: 100) }
        #expect(throws: RESPError()) { try Self.replies(longest + "aa", chunk: 100) }
    }

    @Test func `a bulk string has a bound`() throws {
        let longest = String(repeating: "a", count: RESPReader.maximumBulk)
        #expect(try Self.replies("$16384\r\n\(longest)\r\n", chunk: 64) == [.bulk(Array(longest.utf8))])
    }

    @Test func `a reply that is not there in full is waited for`() throws {
        for text in [
            "+OK\r", "+OK", ":1", "$5\r\nabc", "$5\r\nabcde", "$5\r\nabcde\r", "$-1\r", "$", "*2\r\n$1\r\na\r\n",
            "*1\r\n",
        ] {
            #expect(try Self.replies(text, chunk: 1).isEmpty)
        }
    }

    @Test func `a command is an array of bulk strings`() {
        let command = RESPCommand.setIfAbsent([0x6b, 0x0d], to: [0, 255], milliseconds: 1500)
        #expect(
            command.octets
                == Array("*6\r\n$3\r\nSET\r\n$2\r\nk\r\r\n$2\r\n".utf8) + [0, 255]
                + Array("\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1500\r\n".utf8))
    }
}

@Suite struct KeySlotTests {
    // The expected slots come from `CLUSTER KEYSLOT` of Redis 7.0.
    @Test(arguments: [
        ("123456789", 12739), ("", 0), ("foo", 12182), ("{user1000}.following", 3443), ("{user1000}.followers", 3443),
        ("foo{}{bar}", 8363), ("foo{{bar}}zap", 4015), ("foo{bar}{zap}", 5061), ("bar", 5061),
    ])
    func `a slot is the cluster's`(key: String, slot: UInt16) {
        #expect(KeySlot.slot(of: Array(key.utf8)) == slot)
    }
}

@Suite struct StoreErrorTests {
    @Test(arguments: [
        ("MOVED 3999 127.0.0.1:6381", StoreError.redirected(to: "127.0.0.1:6381", slot: 3999)),
        ("MOVED 16384 127.0.0.1:6381", .other("MOVED")), ("MOVED 3999", .other("MOVED")),
        ("ASK 3999 127.0.0.1:6381", .redirected(to: "127.0.0.1:6381", slot: nil)),
        ("READONLY You can't write against a read only replica.", .readOnly),
        ("OOM command not allowed when used memory > 'maxmemory'.", .refused("OOM")), ("", .other("")),
    ])
    func `an error is identified by its first word`(text: String, error: StoreError) {
        #expect(StoreError(Array(text.utf8)) == error)
    }

    @Test(arguments: [
        ("10.0.0.7:6381", StoreAddress.network(host: "10.0.0.7", port: 6381)),
        ("node-2.example:6379", .network(host: "node-2.example", port: 6379)),
        (":6381", .network(host: "home", port: 6381)), ("2001:db8::7:6381", .network(host: "2001:db8::7", port: 6381)),
        ("10.0.0.7:0", nil), ("10.0.0.7:65536", nil), ("10.0.0.7", nil), ("10.0.0.7:x", nil),
    ])
    func `a redirection names an address`(text: String, address: StoreAddress?) {
        #expect(StoreAddress(redirection: text, from: .network(host: "home", port: 1)) == address)
    }
}
