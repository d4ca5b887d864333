private import Bytes
package import OpenSSL

/// What may be used once, by 16 octets of a hash: a store that is read by strangers tells nothing of anybody.
package struct ClaimKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Octets of ``octets``.
    static let length = 16

    /// - Parameters:
    ///   - kind: keeps what is of different kinds apart.
    ///   - parts: what is used once. Each is hashed behind its length, so that no two lists make the same key.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ kind: StaticString, of parts: [[UInt8]], _ context: borrowing DigestContext) throws(OpenSSLError) {
        var message = Array("assay \(kind)".utf8)
        for part in parts {
            message += (0..<8).map { UInt8(truncatingIfNeeded: part.count >> ($0 * 8)) }
            message += part
        }
        let digest = try context.digest(message.span, with: .sha256)
        high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// As the store names it, behind its prefix: 32 hexadecimal digits, which people can paste.
    var digits: String {
        let octets =
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - $0 * 8)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - $0 * 8)) }
        return String(hexadecimal: octets.span)
    }
}
