private import COpenSSL

/// HMAC under one key (RFC 2104): an `EVP_MAC_CTX` that is reused. Confined to one thread.
@safe package final class MessageAuthenticator {
    private let context: OpaquePointer
    private let digest: DigestAlgorithm

    /// An `EVP_MAC`, fetched once and never freed: it lives as long as the process.
    @safe private struct Algorithm: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
        static let hmac = Algorithm()

        private init() {
            // No input can cause this: every OpenSSL 3 has HMAC.
            guard let fetched = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
                preconditionFailure("this OpenSSL offers no HMAC")
            }
            unsafe pointer = fetched
        }
    }

    /// - Parameter digest: a hash function of SHA-2.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(key: SecretBytes, _ digest: DigestAlgorithm = .sha256) throws(OpenSSLError) {
        self.digest = digest
        guard let context = unsafe EVP_MAC_CTX_new(Algorithm.hmac.pointer) else { throw .drain() }
        unsafe self.context = context
        try key.withBytes { key throws(OpenSSLError) in
            try check(
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe assayInitializeHMAC(context, "\(digest.name)", key.baseAddress, key.count)
                })
        }
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// The code of a message, in memory that is overwritten when it is freed.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func code(of message: Span<UInt8>) throws(OpenSSLError) -> SecretBytes {
        // Without a key argument, the previous key stays in use.
        try check(unsafe EVP_MAC_init(context, nil, 0, nil))
        try check(
            unsafe message.withUnsafeBufferPointer { unsafe EVP_MAC_update(context, $0.baseAddress, $0.count) })
        var code = [UInt8](repeating: 0, count: digest.outputLength)
        defer { wipe(&code) }
        var length = 0
        try check(
            unsafe code.withUnsafeMutableBufferPointer {
                unsafe EVP_MAC_final(context, $0.baseAddress, &length, $0.count)
            })
        guard length == digest.outputLength else { throw OpenSSLError(code: 0) }
        return try SecretBytes(code.span)
    }
}

@available(*, unavailable) extension MessageAuthenticator: Sendable {}
