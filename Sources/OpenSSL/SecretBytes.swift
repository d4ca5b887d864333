private import COpenSSL

/// Secret octets, which are overwritten when they are freed: a key, or decrypted data.
///
/// They are in memory that OpenSSL allocates, and overwrites before freeing. Descriptions omit them.
// `@unchecked`: complete when `init` returns, never written to afterwards.
@safe package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let pointer: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    package let count: Int

    /// Copies `octets`. The caller overwrites its own copy, see ``wipe(_:)``.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ octets: Span<UInt8>) throws(OpenSSLError) {
        capacity = max(octets.count, 1)
        unsafe pointer = try allocate(capacity)
        count = octets.count
        for index in octets.indices { unsafe pointer[index] = octets[index] }
    }

    /// Lets `write` fill the octets.
    ///
    /// - Parameters:
    ///   - capacity: at least 1.
    ///   - write: returns how many octets it has written, at most the capacity.
    /// - Throws: ``OpenSSLError`` when out of memory, and what `write` throws.
    init(
        capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) throws(OpenSSLError) -> Int
    ) throws(OpenSSLError) {
        let memory = unsafe try allocate(capacity)
        do throws(OpenSSLError) {
            let written = try unsafe write(UnsafeMutableBufferPointer(start: memory, count: capacity))
            precondition((0...capacity).contains(written))
            count = written
        } catch {
            unsafe CRYPTO_clear_free(memory, capacity, #file, #line)
            throw error
        }
        self.capacity = capacity
        unsafe pointer = memory
    }

    /// Random octets.
    ///
    /// - Throws: ``OpenSSLError`` if the generator can't be seeded.
    package convenience init(random count: Int) throws(OpenSSLError) {
        try unsafe self.init(capacity: count) { output throws(OpenSSLError) in
            try check(unsafe RAND_bytes(output.baseAddress, CInt(count)))
            return count
        }
    }

    /// The octets of a range.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func extracting(_ range: Range<Int>) throws(OpenSSLError) -> SecretBytes {
        try withBytes { octets throws(OpenSSLError) in try SecretBytes(octets.extracting(range)) }
    }

    /// These octets if `mask` is 255, and those of `other` if it is 0. Both takes the same instructions.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func selected(by mask: UInt8, else other: SecretBytes) throws(OpenSSLError) -> SecretBytes {
        precondition(count == other.count)
        return try unsafe SecretBytes(capacity: max(count, 1)) { output in
            for index in 0..<count {
                unsafe output[index] = unsafe pointer[index] & mask | other.pointer[index] & ~mask
            }
            return count
        }
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

    deinit { unsafe CRYPTO_clear_free(pointer, capacity, #file, #line) }

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

/// - Throws: ``OpenSSLError`` when out of memory.
private func allocate(_ capacity: Int) throws(OpenSSLError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = unsafe CRYPTO_zalloc(capacity, #file, #line) else { throw .drain() }
    return unsafe memory.bindMemory(to: UInt8.self, capacity: capacity)
}

/// Overwrites octets in a way that the compiler can't optimize away.
package func wipe(_ octets: inout [UInt8]) {
    unsafe octets.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
}
