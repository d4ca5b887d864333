private import COpenSSL

/// The length of an AES key.
package enum AESKeySize: Sendable, CaseIterable {
    case bits128, bits192, bits256

    /// In octets.
    package var length: Int {
        switch self {
        case .bits128: 16
        case .bits192: 24
        case .bits256: 32
        }
    }

    fileprivate var bits: Int { length * 8 }
}

/// A mode of AES: an `EVP_CIPHER`, fetched once and never freed, so that it lives as long as the process.
@safe struct CipherAlgorithm: Sendable {
    // Immutable and reference-counted by OpenSSL, so threads can share it.
    nonisolated(unsafe) let pointer: OpaquePointer
    let keyLength: Int

    static func gcm(_ size: AESKeySize) -> CipherAlgorithm { gcm[size] }
    /// Cipher block chaining, with the padding of PKCS#7.
    static func cbc(_ size: AESKeySize) -> CipherAlgorithm { cbc[size] }
    /// Key wrap (RFC 3394).
    static func wrap(_ size: AESKeySize) -> CipherAlgorithm { wrap[size] }

    private static let gcm = Family("GCM")
    private static let cbc = Family("CBC")
    private static let wrap = Family("WRAP")

    private struct Family {
        private let bits128, bits192, bits256: CipherAlgorithm

        init(_ mode: String) {
            bits128 = CipherAlgorithm(mode, .bits128)
            bits192 = CipherAlgorithm(mode, .bits192)
            bits256 = CipherAlgorithm(mode, .bits256)
        }

        subscript(size: AESKeySize) -> CipherAlgorithm {
            switch size {
            case .bits128: bits128
            case .bits192: bits192
            case .bits256: bits256
            }
        }
    }

    private init(_ mode: String, _ size: AESKeySize) {
        let name = "AES-\(size.bits)-\(mode)"
        // No input can cause this: every OpenSSL 3 has these modes.
        guard let fetched = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
            preconditionFailure("this OpenSSL offers no \(name)")
        }
        unsafe pointer = fetched
        keyLength = size.length
    }
}
