private import COpenSSL

/// A hash function of SHA-2 or SHA-3, fetched from OpenSSL once per process.
@safe package struct DigestAlgorithm: Sendable, Equatable {
    /// An `EVP_MD`, fetched explicitly and never freed: it lives as long as the process. `EVP_sha256()` and similar
    /// functions look up the implementation at each use.
    // Immutable and reference-counted by OpenSSL, so threads can share it.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The length of the output in bytes. SHAKE256 is used with the length that Ed448 needs.
    package let outputLength: Int

    package static let sha256 = DigestAlgorithm(fetching: "SHA256", outputLength: 32)
    package static let sha384 = DigestAlgorithm(fetching: "SHA384", outputLength: 48)
    package static let sha512 = DigestAlgorithm(fetching: "SHA512", outputLength: 64)
    package static let shake256 = DigestAlgorithm(fetching: "SHAKE256", outputLength: 114)

    let name: StaticString

    private init(fetching name: StaticString, outputLength: Int) {
        // No input can cause this: every OpenSSL 3 has SHA-2 and SHA-3.
        guard let fetched = unsafe EVP_MD_fetch(nil, "\(name)", nil) else {
            preconditionFailure("this OpenSSL offers no \(name)")
        }
        unsafe pointer = fetched
        self.name = name
        self.outputLength = outputLength
    }

    package static func == (left: DigestAlgorithm, right: DigestAlgorithm) -> Bool {
        unsafe left.pointer == right.pointer
    }
}

/// An `EVP_MD_CTX`: owned, confined to one thread, reused for each digest, freed once.
@safe package struct DigestContext: ~Copyable {
    private let pointer: OpaquePointer

    package init() throws(OpenSSLError) {
        guard let pointer = unsafe EVP_MD_CTX_new() else { throw .drain() }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }

    /// The digest of `bytes`: 114 bytes for SHAKE256, otherwise as long as the function's name says.
    package func digest(_ bytes: Span<UInt8>, with algorithm: DigestAlgorithm) throws(OpenSSLError) -> [UInt8] {
        var output = Output(repeating: 0)
        try write(digestOf: bytes, algorithm, into: &output)
        return [UInt8](capacity: algorithm.outputLength) { digest in
            for index in 0..<algorithm.outputLength { digest.append(output[index]) }
        }
    }

    /// Large enough for the longest output, that of SHAKE256.
    typealias Output = InlineArray<114, UInt8>

    /// Writes the digest of `bytes` to the beginning of `output`.
    func write(
        digestOf bytes: Span<UInt8>, _ algorithm: DigestAlgorithm, into output: inout Output
    ) throws(OpenSSLError) {
        precondition(output.count >= algorithm.outputLength)
        var room = output.mutableSpan
        try check(unsafe EVP_DigestInit_ex2(pointer, algorithm.pointer, nil))
        try check(unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(pointer, $0.baseAddress, $0.count) })
        try check(
            unsafe room.withUnsafeMutableBufferPointer { output in
                algorithm == .shake256
                    ? unsafe EVP_DigestFinalXOF(pointer, output.baseAddress, algorithm.outputLength)
                    : unsafe EVP_DigestFinal_ex(pointer, output.baseAddress, nil)
            })
    }
}

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
    package func code(of message: Span<UInt8>) throws(OpenSSLError) -> SecretBytes {
        // Without a key argument, the previous key stays in use.
        try check(unsafe EVP_MAC_init(context, nil, 0, nil))
        try check(
            unsafe message.withUnsafeBufferPointer { unsafe EVP_MAC_update(context, $0.baseAddress, $0.count) })
        let length = digest.outputLength
        return try unsafe SecretBytes(capacity: length) { output throws(OpenSSLError) in
            var written = 0
            try check(unsafe EVP_MAC_final(context, output.baseAddress, &written, length))
            guard written == length else { throw .unspecified }
            return length
        }
    }
}

@available(*, unavailable) extension MessageAuthenticator: Sendable {}

/// The one-step key derivation function with SHA-256, which RFC 7518 calls Concat KDF.
///
/// - Parameters:
///   - information: *OtherInfo*, which says what the key is for.
///   - length: of the derived key, in octets.
/// - Source: NIST SP 800-56A, section 5.8.1; RFC 7518, section 4.6.2.
package func concatenationKey(
    from secret: SecretBytes, _ information: [UInt8], length: Int
) throws(OpenSSLError) -> SecretBytes {
    let context = try DigestContext()
    // Reserved at once, because a reallocation would leave a copy of the secret in memory.
    var input: [UInt8] = []
    input.reserveCapacity(4 + secret.count + information.count)
    defer { wipe(&input) }
    input += [0, 0, 0, 0]
    secret.withBytes { for index in $0.indices { input.append($0[index]) } }
    input += information
    var output: [UInt8] = []
    output.reserveCapacity(length + DigestAlgorithm.sha256.outputLength)
    defer { wipe(&output) }
    while output.count < length {
        input[3] += 1
        var block = try context.digest(input.span, with: .sha256)
        output += block
        wipe(&block)
    }
    return try SecretBytes(output.span.extracting(..<length))
}
