private import JOSE
package import OpenSSL

/// Makes the nonces that DPoP proofs may have to repeat, and recognizes them later. None is kept: a nonce is the time at
/// which it was made, and a code of that time under a key of the service.
///
/// - Source: RFC 9449, section 9.
package struct ProofNonces: Sendable {
    /// The first makes nonces; all recognize them.
    private let keys: [SecretBytes]

    /// In seconds.
    package static let lifetimeSeconds: Int64 = 300
    /// In seconds. Another instance, whose clock is ahead, may have made the nonce.
    private static let clockToleranceSeconds: Int64 = 60

    private static let timeLength = 8
    private static let codeLength = 16

    /// - Parameter keys: instances with the same keys recognize each other's nonces.
    package init(_ keys: [SecretBytes]) { self.keys = keys }

    /// - Returns: `nil` if there are no keys.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func nonce(at now: UnixTime) throws(OpenSSLError) -> String? {
        guard let key = keys.first else { return nil }
        let time = (0..<Self.timeLength).map { UInt8(truncatingIfNeeded: now.seconds >> (56 - 8 * $0)) }
        return String(decoding: Base64URL.encode(time + (try Self.code(of: time[...], under: key))), as: UTF8.self)
    }

    /// When a nonce was made.
    ///
    /// - Returns: `nil` if it was not made with one of the keys.
    /// - Throws: ``OpenSSLError`` when out of memory.
    func time(of nonce: String) throws(OpenSSLError) -> UnixTime? {
        guard let octets = Base64URL.decode(nonce.utf8.span), octets.count == Self.timeLength + Self.codeLength else {
            return nil
        }
        let time = octets[..<Self.timeLength]
        let sent = octets.span.extracting(Self.timeLength...)
        for key in keys {
            let code = try Self.code(of: time, under: key)
            guard constantTimeEquals(code.span, sent) else { continue }
            return UnixTime(seconds: time.reduce(0) { $0 << 8 | Int64($1) })
        }
        return nil
    }

    /// Whether a nonce that was made then may be used now.
    static func isFresh(_ madeAt: UnixTime, now: UnixTime) -> Bool {
        now <= madeAt.advanced(bySeconds: lifetimeSeconds)
            && madeAt <= now.advanced(bySeconds: clockToleranceSeconds)
    }

    private static func code(of time: ArraySlice<UInt8>, under key: SecretBytes) throws(OpenSSLError) -> [UInt8] {
        // Neither as long as a handle's salt nor as what a handle key's ID is made of, so no code can stand for another.
        let message = Array("assay dpop nonce".utf8) + time
        let code = try MessageAuthenticator(key: key).code(of: message.span)
        return code.withBytes { code in (0..<codeLength).map { code[$0] } }
    }
}
