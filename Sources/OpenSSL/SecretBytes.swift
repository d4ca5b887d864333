private import COpenSSL

/// Secret octets, which are overwritten when they are freed: a key, or decrypted data.
///
/// They are in memory that OpenSSL allocates, and overwrites before freeing. Descriptions omit them.
// `@unchecked`: complete when `init` returns, never written to afterwards.
@safe package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let pointer: UnsafeMutablePointer<UInt8>
    package let count: Int

    /// Copies `octets`. The caller overwrites its own copy, see ``wipe(_:)``.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ octets: Span<UInt8>) throws(OpenSSLError) {
        guard let memory = unsafe CRYPTO_zalloc(max(octets.count, 1), #file, #line) else { throw .drain() }
        unsafe pointer = memory.bindMemory(to: UInt8.self, capacity: max(octets.count, 1))
        count = octets.count
        for index in octets.indices { unsafe pointer[index] = octets[index] }
    }

    /// Copies one line of text, without its line break.
    ///
    /// - Returns: `nil` if nothing is left.
    package convenience init?(line: Span<UInt8>) {
        var count = line.count
        if count > 0, line[count - 1] == 0x0a { count -= count > 1 && line[count - 2] == 0x0d ? 2 : 1 }
        guard count > 0 else { return nil }
        try? self.init(line.extracting(..<count))
    }

    deinit { unsafe CRYPTO_clear_free(pointer, max(count, 1), #file, #line) }

    /// Calls `body` with the octets.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The span doesn't keep the memory alive.
        try withExtendedLifetime(self) { () throws(Failure) in
            try body(unsafe UnsafeBufferPointer(start: pointer, count: count).span)
        }
    }

    package var description: String { "(\(count) secret octets)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Overwrites octets in a way that the compiler can't optimize away.
package func wipe(_ octets: inout [UInt8]) {
    unsafe octets.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
}
