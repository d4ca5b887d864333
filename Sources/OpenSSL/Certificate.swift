private import COpenSSL

/// A certificate to inspect, not to verify: an `X509`.
@safe package struct Certificate: ~Copyable {
    let pointer: OpaquePointer

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

    /// Whether its signature uses a hash function without collision resistance, such as SHA-1.
    package var hasWeakSignature: Bool {
        var strengthBits: CInt = 0
        defer { ERR_clear_error() }
        // OpenSSL rates SHA-1 at 63 bits and SHA-256 at 128. If it can't tell, the verifier of the chain decides.
        return unsafe X509_get_signature_info(pointer, nil, nil, &strengthBits, nil) == 1 && strengthBits < 100
    }

    /// Its public key, if that is an RSA key or a key on a NIST curve.
    ///
    /// The certificate's signature and dates are not checked.
    package var publicKey: DecodedPublicKey? {
        defer { ERR_clear_error() }
        guard let key = unsafe X509_get0_pubkey(pointer) else { return nil }
        return unsafe decodedPublicKey(key)
    }

    /// The common name of its subject, if it has one in UTF-8.
    package var commonName: String? {
        defer { ERR_clear_error() }
        guard let subject = unsafe X509_get_subject_name(pointer) else { return nil }
        // The standard limits it to 64 characters (RFC 5280, appendix A.1).
        var text = [CChar](repeating: 0, count: 257)
        let length = unsafe X509_NAME_get_text_by_NID(subject, NID_commonName, &text, CInt(text.count))
        guard length > 0 else { return nil }
        return String(validating: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether its issuer is another certificate's subject. The signature is not checked, because only explanations
    /// depend on this.
    package func names(asIssuer other: borrowing Certificate) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_issued(other.pointer, pointer) == X509_V_OK
    }

    /// Whether issuer and subject are the same. The signature is not checked, because only explanations depend on this.
    package var isSelfSigned: Bool {
        defer { ERR_clear_error() }
        return unsafe X509_self_signed(pointer, 0) == 1
    }
}

extension Certificate {
    /// Reads the first certificate of a PEM file; `nil` if there is none that can be decoded.
    package init?(pem: Span<UInt8>) {
        guard let block = PEMBlock.all(in: pem).first(where: { $0.label == "CERTIFICATE" }),
            let der = block.decoded(from: pem)
        else { return nil }
        self.init(der)
    }

    /// Whether it certifies the public half of this key.
    package func matches(_ key: SigningKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_private_key(pointer, key.pointer) == 1
    }

    /// The SHA-256 of its DER: `x5t#S256` before base64url (RFC 7515, section 4.1.8).
    package var thumbprint: [UInt8]? {
        defer { ERR_clear_error() }
        var digest = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.outputLength)
        var length = CUnsignedInt(0)
        guard unsafe X509_digest(pointer, DigestAlgorithm.sha256.pointer, &digest, &length) == 1 else { return nil }
        return length == digest.count ? digest : nil
    }
}
