private import Bytes
package import OpenSSL

/// Identifies something single-use by 16 octets of its hash, so that the store's contents reveal nothing.
package struct ClaimKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The key in the store, after the prefix: 32 hexadecimal digits, which are easy to copy.
    var digits: String { String(hexadecimal: high, low) }
}

extension ClaimKey {
    /// - Parameters:
    ///   - kind: separates keys of different kinds.
    ///   - parts: what identifies the single-use item. Each part is hashed with its length, so different lists can't
    ///     collide.
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
}
