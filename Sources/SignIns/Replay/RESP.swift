/// A reply of RESP2, the protocol of Valkey and Redis. Only the kinds that our commands can get.
enum RESPReply: Equatable, Sendable {
    /// Such as `OK`.
    case simple([UInt8])
    /// Such as `MOVED 3999 127.0.0.1:6381`. The first word is the error's code.
    case error([UInt8])
    case integer(Int64)
    case bulk([UInt8])
    /// An array of bulk strings only.
    case array([[UInt8]])
    /// The null reply: there is no such value.
    case null
}

/// A server sent something that is not an expected reply.
struct RESPError: Error, Equatable {}

/// Parses replies from a stream, across any packet boundaries. Strict: any violation of the protocol closes the
/// connection, because replies could no longer be matched to commands.
///
/// See *RESP protocol specification*, RESP2.
struct RESPReader {
    private var octets: [UInt8] = []
    private var start = 0

    /// Maximum length of a line; expected ones are far shorter.
    static let maximumLine = 1024
    /// Maximum length of a bulk string. A section of `INFO` has about 2,500 octets, and more with many replicas.
    static let maximumBulk = 16_384
    static let maximumElements = 16

    init() {}

    /// Whether all octets belonged to replies that were returned.
    var isEmpty: Bool { start == octets.count }

    mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0 {
            octets.removeSubrange(..<start)
            start = 0
        }
        octets.append(contentsOf: more)
    }

    /// The next reply; `nil` if more octets are needed.
    ///
    /// - Throws: ``RESPError``, also on every later call.
    mutating func next() throws(RESPError) -> RESPReply? {
        guard start < octets.count else { return nil }
        guard let line = try line(from: start + 1) else { return nil }
        let content = Array(octets[(start + 1)..<line.end])
        switch octets[start] {
        case UInt8(ascii: "+"): return take(.simple(content), to: line.next)
        case UInt8(ascii: "-"): return take(.error(content), to: line.next)
        case UInt8(ascii: ":"): return take(.integer(try Self.integer(content)), to: line.next)
        case UInt8(ascii: "$"): return try bulk(content, after: line.next)
        case UInt8(ascii: "*"): return try array(content, after: line.next)
        default: throw RESPError()
        }
    }

    private mutating func take(_ reply: RESPReply, to end: Int) -> RESPReply {
        start = end
        return reply
    }

    private mutating func bulk(_ length: [UInt8], after place: Int) throws(RESPError) -> RESPReply? {
        let count = try Self.integer(length)
        if count == -1 { return take(.null, to: place) }
        guard (0...Int64(Self.maximumBulk)).contains(count) else { throw RESPError() }
        let end = place + Int(count)
        // Rejects a wrong octet without waiting for the next.
        for (offset, expected) in [UInt8(ascii: "\r"), UInt8(ascii: "\n")].enumerated()
        where end + offset < octets.count && octets[end + offset] != expected {
            throw RESPError()
        }
        guard end + 2 <= octets.count else { return nil }
        return take(.bulk(Array(octets[place..<end])), to: end + 2)
    }

    private mutating func array(_ length: [UInt8], after place: Int) throws(RESPError) -> RESPReply? {
        let count = try Self.integer(length)
        guard (0...Int64(Self.maximumElements)).contains(count) else { throw RESPError() }
        let first = start
        var elements: [[UInt8]] = []
        // An array that is not complete is read again from its start.
        defer { if elements.count < count { start = first } }
        start = place
        for _ in 0..<count {
            guard start == octets.count || octets[start] == UInt8(ascii: "$") else { throw RESPError() }
            guard let element = try next() else { return nil }
            guard case .bulk(let text) = element else { throw RESPError() }
            elements.append(text)
        }
        return .array(elements)
    }

    /// A line that ends in CR LF; `nil` if it is not complete yet.
    private func line(from first: Int) throws(RESPError) -> (end: Int, next: Int)? {
        let bound = min(octets.count, first + Self.maximumLine + 2)
        guard let end = octets[first..<max(first, bound)].firstIndex(where: { $0 == 0x0d || $0 == 0x0a }) else {
            if octets.count - first > Self.maximumLine { throw RESPError() }
            return nil
        }
        guard octets[end] == 0x0d, end - first <= Self.maximumLine else { throw RESPError() }
        guard end + 1 < octets.count else { return nil }
        guard octets[end + 1] == 0x0a else { throw RESPError() }
        return (end, end + 2)
    }

    /// A decimal number in canonical form: no plus sign, no leading zeros, no minus zero.
    private static func integer(_ text: [UInt8]) throws(RESPError) -> Int64 {
        guard let number = Int64(String(decoding: text, as: UTF8.self)), Array(String(number).utf8) == text else {
            throw RESPError()
        }
        return number
    }
}

/// A Valkey or Redis command, encoded as an array of bulk strings.
struct RESPCommand: Equatable, Sendable {
    let arguments: [[UInt8]]

    init(_ arguments: [UInt8]...) { self.arguments = arguments }

    var octets: [UInt8] {
        var octets = Array("*\(arguments.count)\r\n".utf8)
        for argument in arguments {
            octets += Array("$\(argument.count)\r\n".utf8)
            octets += argument
            octets += [0x0d, 0x0a]
        }
        return octets
    }
}

extension RESPCommand {
    /// Sets a key with an expiry, unless it exists.
    static func setIfAbsent(_ key: [UInt8], to value: [UInt8], milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("SET"), key, value, word("NX"), word("PX"), word(String(milliseconds)))
    }

    /// Replaces a value that exists, and its expiry.
    static func replace(_ key: [UInt8], by value: [UInt8], milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("SET"), key, value, word("XX"), word("PX"), word(String(milliseconds)))
    }

    static func get(_ key: [UInt8]) -> RESPCommand { RESPCommand(word("GET"), key) }

    static func delete(_ key: [UInt8]) -> RESPCommand { RESPCommand(word("DEL"), key) }

    /// Waits until enough replicas have all earlier writes of this connection, or until a timeout.
    static func wait(replicas: Int, milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("WAIT"), word(String(replicas)), word(String(milliseconds)))
    }

    /// - Parameter username: `nil`: the default user.
    static func authenticate(username: String?, password: [UInt8]) -> RESPCommand {
        if let username {
            RESPCommand(word("AUTH"), word(username), password)
        } else {
            RESPCommand(word("AUTH"), password)
        }
    }

    static func select(_ database: Int) -> RESPCommand { RESPCommand(word("SELECT"), word(String(database))) }
    /// Reads a setting of the server.
    static func setting(_ name: String) -> RESPCommand { RESPCommand(word("CONFIG"), word("GET"), word(name)) }
    /// Reads a section of the server's report about itself.
    static func information(_ section: String) -> RESPCommand { RESPCommand(word("INFO"), word(section)) }
    static var ping: RESPCommand { RESPCommand(word("PING")) }
    /// Allows the next command to access a slot that is being migrated to the node.
    static var asking: RESPCommand { RESPCommand(word("ASKING")) }

    private static func word(_ text: String) -> [UInt8] { Array(text.utf8) }
}
