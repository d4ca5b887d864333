private import COpenSSL

/// A certificate that is looked at, not believed: an `X509`.
@safe package struct Certificate: ~Copyable {
    private let pointer: OpaquePointer

    /// Reads DER; `nil` for anything else.
    package init?(_ der: [UInt8]) {
        let decoded = unsafe der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe d2i_X509(nil, &position, buffer.count)
        }
        guard let decoded = unsafe decoded else {
            ERR_clear_error()
            return nil
        }
        unsafe pointer = decoded
    }

    deinit { unsafe X509_free(pointer) }

    /// Whether its signature rests on a hash function whose collisions can be made, such as SHA-1.
    package var hasWeakSignature: Bool {
        var strengthBits: CInt = 0
        defer { ERR_clear_error() }
        // SHA-1 counts 63 bits, SHA-256 128. What can't be told is for the verifier of the chain to judge.
        return unsafe X509_get_signature_info(pointer, nil, nil, &strengthBits, nil) == 1 && strengthBits < 100
    }

    /// Whether it names itself as its authority. Its signature is not looked at: nothing rests on this but an explanation.
    package var isSelfSigned: Bool {
        defer { ERR_clear_error() }
        return unsafe X509_self_signed(pointer, 0) == 1
    }
}
