private import Bytes
private import COpenSSL

/// Whether two byte sequences are equal, in a time that depends only on their lengths.
package func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}

/// Returns `count` bytes from OpenSSL's cryptographic random generator.
///
/// - Throws: ``OpenSSLError`` if the generator can't be seeded.
package func randomBytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try check(unsafe bytes.withUnsafeMutableBufferPointer { unsafe RAND_bytes($0.baseAddress, CInt(count)) })
    return bytes
}

/// Prevents OpenSSL from cleaning up at process exit, while other threads may still verify signatures.
///
/// The owner of the process must call it before any other function of this module.
///
/// - Throws: ``OpenSSLError`` if OpenSSL can't be initialized.
package func disableOpenSSLExitHandler() throws(OpenSSLError) {
    try check(OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil))
}

/// The version of the OpenSSL library in use, such as `OpenSSL 3.0.19 27 Jan 2026`.
package func openSSLVersion() -> String {
    unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
}

/// Whether a string is the lower-case hexadecimal form of a digest. Takes a time that depends only on their lengths.
///
/// The digits are on the stack: an array of them took 250 more instructions.
///
/// - Parameter digest: a SHA-256.
package func constantTimeEquals(_ text: Span<UInt8>, hexadecimalOf digest: Span<UInt8>) -> Bool {
    precondition(digest.count == DigestAlgorithm.sha256.outputLength)
    var digits = InlineArray<64, UInt8>(repeating: 0)
    var output = digits.mutableSpan
    var bytes = unsafe output.mutableBytes
    for index in 0..<8 {
        let four = unsafe digest.bytes.unsafeLoadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
        let eight = hexadecimalDigits(UInt32(littleEndian: four)).littleEndian
        bytes.storeBytes(of: eight, toByteOffset: index * 8, as: UInt64.self)
    }
    return constantTimeEquals(text, digits.span)
}

/// Keeps the kernel from writing this process's memory to a core dump, and other processes of the same user from
/// reading it. A crash prints no backtrace either: Swift's shows the memory that registers point to.
///
/// The owner of the process calls it before it reads the first secret from a file.
///
/// - Returns: whether the kernel did so.
package func disableCoreDumps() -> Bool { assayDisableCoreDumps() == 0 }

/// An OpenSSL call failed unexpectedly: out of memory, or an algorithm that the library does not have.
///
/// Any function that throws it does so when out of memory, and its comment need not say so. Keys and signatures from
/// outside never cause it; they cause ``KeyMaterialError`` or `false`.
package struct OpenSSLError: Error, Equatable {
    /// OpenSSL's packed error code of the oldest entry in the thread's queue; 0 if the queue was empty.
    package let code: UInt

    /// An error without an entry in OpenSSL's queue.
    package static let unspecified = OpenSSLError(code: 0)

    /// Empties the thread's error queue and returns its oldest entry.
    ///
    /// The whole queue is cleared, because a leftover entry would be attributed to the thread's next call.
    static func drain() -> OpenSSLError {
        let oldest = ERR_get_error()
        ERR_clear_error()
        return OpenSSLError(code: oldest)
    }
}

/// Why key material is not a usable public key.
package enum KeyMaterialError: Error, Equatable, Sendable {
    /// An RSA modulus of fewer than 2048 bits.
    case tooSmall
    /// An RSA modulus of more than 8192 bits, or a public exponent of more than 64 bits: verification would be too
    /// expensive.
    case tooLarge
    /// An even modulus or exponent, an exponent below 3, a coordinate of the wrong length, or a point that is not on
    /// its curve or generates a small subgroup.
    case malformed
}

/// Throws unless an OpenSSL call returned exactly 1; failures may be 0 or negative.
func check(_ result: CInt) throws(OpenSSLError) {
    guard result == 1 else { throw .drain() }
}

/// Secret octets, which are overwritten when they are freed: a key, or decrypted data.
///
/// They are in memory that OpenSSL allocates, and overwrites before freeing. Descriptions omit them.
// `@unchecked`: complete when `init` returns, never written to afterwards.
@safe package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let pointer: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    package let count: Int

    /// Copies `octets`. The caller overwrites its own copy, see ``wipe(_:)``.
    package convenience init(_ octets: Span<UInt8>) throws(OpenSSLError) {
        try unsafe self.init(capacity: max(octets.count, 1)) { output in
            for index in octets.indices { unsafe output[index] = octets[index] }
            return octets.count
        }
    }

    /// Lets `write` fill the octets.
    ///
    /// - Parameters:
    ///   - capacity: at least 1.
    ///   - write: returns how many octets it has written, at most the capacity.
    /// - Throws: what `write` throws.
    init(
        capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) throws(OpenSSLError) -> Int
    ) throws(OpenSSLError) {
        guard let memory = unsafe CRYPTO_zalloc(capacity, #file, #line) else { throw .drain() }
        unsafe pointer = memory.bindMemory(to: UInt8.self, capacity: capacity)
        self.capacity = capacity
        do throws(OpenSSLError) {
            count = try unsafe write(UnsafeMutableBufferPointer(start: pointer, count: capacity))
        } catch {
            unsafe CRYPTO_clear_free(memory, capacity, #file, #line)
            throw error
        }
        precondition((0...capacity).contains(count))
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
    package func extracting(_ range: Range<Int>) throws(OpenSSLError) -> SecretBytes {
        try withBytes { octets throws(OpenSSLError) in try SecretBytes(octets.extracting(range)) }
    }

    /// These octets if `mask` is 255, and those of `other` if it is 0. Both takes the same instructions.
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

/// Overwrites octets in a way that the compiler can't optimize away.
package func wipe(_ octets: inout [UInt8]) {
    unsafe octets.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
}
