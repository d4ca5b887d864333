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
        start = place
        for _ in 0..<count {
            var element: RESPReply?
            do throws(RESPError) {
                guard start == octets.count || octets[start] == UInt8(ascii: "$") else { throw RESPError() }
                element = try next()
                if element == .null { throw RESPError() }
            } catch {
                start = first
                throw error
            }
            guard case .bulk(let text)? = element else {
                start = first
                return nil
            }
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
