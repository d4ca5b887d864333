private import Bytes
private import COpenSSL

/// A private key: an `EVP_PKEY`, read from a file of the operator or generated.
///
/// OpenSSL overwrites the private numbers when it frees the key.
// `@unchecked`: complete when `init` returns, never written to afterwards; OpenSSL counts its references atomically.
@safe package final class SigningKey: @unchecked Sendable {
    package let kind: PublicKeyKind
    let pointer: OpaquePointer

    /// Generates a key pair; the exponent of RSA keys is 65537.
    ///
    /// - Throws: ``OpenSSLError``, also for an RSA size that OpenSSL rejects.
    package init(generating kind: PublicKeyKind) throws(OpenSSLError) {
        self.kind = kind
        unsafe pointer =
            switch kind {
            case .rsa(let length): try unsafe generateKey("RSA", bits: length * 8)
            case .ellipticCurve(let curve): try unsafe generateKey("EC", group: curve.rawValue)
            case .edwards(let curve): try unsafe generateKey(curve.rawValue)
            }
    }

    init(takingOwnershipOf pointer: OpaquePointer, kind: PublicKeyKind) {
        self.kind = kind
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Signs `message`; ECDSA signatures are r ‖ s.
    ///
    /// - Throws: ``OpenSSLError`` if the scheme does not fit the key.
    package func sign(_ message: [UInt8], _ scheme: SignatureScheme) throws(OpenSSLError) -> [UInt8] {
        guard scheme.fits(kind) else { throw OpenSSLError(code: 0) }
        guard let context = unsafe EVP_MD_CTX_new() else { throw .drain() }
        defer { unsafe EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        let digest = scheme.digest.map { "\($0.name)" }
        try check(unsafe EVP_DigestSignInit_ex(context, &keyContext, digest, nil, nil, pointer, nil))
        if case .rsaPSS = scheme {
            try check(unsafe EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING))
            try check(unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST))
        }
        var length = 0
        try check(unsafe EVP_DigestSign(context, nil, &length, message, message.count))
        var signature = [UInt8](repeating: 0, count: length)
        try check(unsafe EVP_DigestSign(context, &signature, &length, message, message.count))
        signature.removeSubrange(length...)
        guard case .ecdsa(let curve) = scheme else { return signature }
        return fixedLengthSignature(fromDER: signature, coordinateLength: curve.coordinateLength)
    }

    /// The public components as the bytes of a JWK: `n` and `e`; `x` and `y`; or `x` alone.
    package func publicComponents() throws(OpenSSLError) -> PublicComponents {
        try unsafe OpenSSL.publicComponents(of: pointer, kind)
    }
}

/// Reads the two integers of a DER `SEQUENCE` that OpenSSL wrote, each at full length.
private func fixedLengthSignature(fromDER der: [UInt8], coordinateLength: Int) -> [UInt8] {
    var position = der[1] == 0x81 ? 3 : 2
    var output: [UInt8] = []
    for _ in 0..<2 {
        let length = Int(der[position + 1])
        let digits = der[(position + 2)..<(position + 2 + length)].drop { $0 == 0 }
        output += [UInt8](repeating: 0, count: coordinateLength - digits.count) + digits
        position += 2 + length
    }
    return output
}

/// Why a text contains no usable private key.
package enum PrivateKeyError: Error, Equatable, Sendable {
    case noKey
    /// A beginning without an end, or both in one line.
    case noLines
    /// The whole PEM file in base64.
    case encodedAgain
    /// The base64 of a key without the lines around it.
    case onlyBase64
    /// DER, or anything else that is binary.
    case notText
    case encrypted
    /// PKCS#1 or SEC 1, by the label of the PEM block.
    case otherFormat(label: String)
    /// A public key or a certificate.
    case notPrivate
    case severalKeys
    case malformed
    case tooSmall(bits: Int)
    case tooLarge(bits: Int)
    case otherKind
    case tooLargeForEncryption(bits: Int)
    /// Of a key that is to decrypt.
    case otherEncryptionKind
    /// Signatures by the private key don't verify with the public key.
    case inconsistent
    case cryptographyUnavailable

    /// A readable message: what was found, what was expected, and what to do.
    package var text: String {
        let convert = "convert it with `openssl pkcs8 -topk8 -nocrypt`"
        return switch self {
        case .noKey: "it holds no private key; a PEM file that begins with -----BEGIN PRIVATE KEY----- is expected"
        case .noLines:
            "its lines `-----BEGIN …-----` and `-----END …-----` are not lines of their own, or one is missing; copy the file again, unchanged"
        case .encodedAgain: "it is a PEM file that was encoded in base64 once more; decode it with `base64 -d`"
        case .onlyBase64:
            "it holds only the base64 of a key; put it between the lines -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----"
        case .notText: "it is not a PEM file; \(convert) -inform DER"
        case .encrypted:
            "the private key is encrypted, and Assay can't ask for a passphrase; "
                + "decrypt it with `openssl pkcs8`, and keep the file readable by Assay alone"
        case .otherFormat(let label): "it holds a key in the format `\(label)`; PKCS#8 is expected: \(convert)"
        case .notPrivate: "it holds a public key or a certificate; the private key is expected"
        case .severalKeys: "it holds more than one PEM block; exactly one private key is expected"
        case .malformed: "the private key is damaged; copy the file again, unchanged"
        case .tooSmall(let bits): "the RSA key has \(bits) bits; at least 2048 are needed: generate a new key"
        case .tooLarge(let bits): "the RSA key has \(bits) bits; at most 8192 are supported: generate a new key"
        case .otherKind:
            "the type of the key is not supported; RSA, P-256, P-384, P-521, Ed25519 or Ed448 is expected: generate a new key"
        case .tooLargeForEncryption(let bits):
            "the RSA key has \(bits) bits; at most \(DecryptionKey.maximumRSABits) are supported for encryption: generate a new key"
        case .otherEncryptionKind:
            "the type of the key can't decrypt; RSA, P-256, P-384, P-521 or X25519 is expected: generate a new key"
        case .inconsistent: "the private and the public half of the key don't belong together; generate a new key"
        case .cryptographyUnavailable: "OpenSSL is out of memory"
        }
    }
}

/// Reads a private key in PKCS#8 (RFC 5958) from PEM (RFC 7468); the caller owns it.
///
/// Text around the key is ignored. OpenSSL's own reader of PEM is not used, because it asks for a passphrase at the
/// terminal.
func decodedPrivateKey(pem: Span<UInt8>) throws(PrivateKeyError) -> OpaquePointer {
    var der = try PEMBlock.privateKey(in: pem)
    defer { wipe(&der) }
    guard let key = unsafe decodedPrivateKey(der: der) else { throw .malformed }
    return unsafe key
}

/// Reads a private key in PKCS#8; the caller owns it. `nil` for anything else.
func decodedPrivateKey(der: [UInt8]) -> OpaquePointer? {
    let key = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var position = buffer.baseAddress
        let end = unsafe buffer.baseAddress.map { unsafe $0 + buffer.count }
        guard let information = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &position, buffer.count) else { return nil }
        // Overwrites its copy of the key.
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
        return unsafe position == end ? EVP_PKCS82PKEY(information) : nil
    }
    ERR_clear_error()
    return unsafe key
}

extension SigningKey {
    /// Reads a private key, and tests it with a signature.
    package convenience init(pem: Span<UInt8>) throws(PrivateKeyError) {
        let key = try unsafe decodedPrivateKey(pem: pem)
        guard let kind = unsafe PublicKeyKind(of: key) else {
            unsafe EVP_PKEY_free(key)
            throw .otherKind
        }
        unsafe self.init(takingOwnershipOf: key, kind: kind)
        try checkUsable()
    }

    private func checkUsable() throws(PrivateKeyError) {
        if case .rsa = kind {
            let bits = unsafe Int(EVP_PKEY_get_bits(pointer))
            guard bits >= 2048 else { throw .tooSmall(bits: bits) }
            guard bits <= 8192 else { throw .tooLarge(bits: bits) }
        }
        let scheme: SignatureScheme =
            switch kind {
            case .rsa: .rsaPKCS1(.bits256)
            case .ellipticCurve(let curve): .ecdsa(curve)
            case .edwards(let curve): .edwards(curve)
            }
        let message = Array("assay".utf8)
        let isConsistent: Bool
        do {
            let signature = try sign(message, scheme)
            isConsistent = try SignatureChecker().isValid(signature.span, of: message.span, by: publicKey(), scheme)
        } catch {
            // OpenSSL can't compute with these numbers.
            throw .malformed
        }
        guard isConsistent else { throw .inconsistent }
    }

    /// The public key.
    ///
    /// - Throws: ``OpenSSLError``, or ``KeyMaterialError`` if it is not usable for verification.
    private func publicKey() throws -> PublicKey {
        let components = try publicComponents().map(\.octets)
        let material: KeyMaterial =
            switch kind {
            case .rsa: try .rsa(modulus: components[0], exponent: components[1])
            case .ellipticCurve(let curve): try .ellipticCurve(curve, x: components[0], y: components[1])
            case .edwards(let curve): try .edwards(curve, point: components[0])
            }
        return try PublicKey(material)
    }
}

extension PublicKeyKind {
    /// `nil` for a kind that JOSE has no algorithm for.
    init?(of key: OpaquePointer) {
        defer { ERR_clear_error() }
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            self = .rsa(modulusLength: Int(unsafe EVP_PKEY_get_size(key)))
        } else if unsafe EVP_PKEY_is_a(key, "EC") == 1 {
            guard let curve = unsafe EllipticCurve(of: key) else { return nil }
            self = .ellipticCurve(curve)
        } else {
            let curve = EdwardsCurve.allCases.first { unsafe EVP_PKEY_is_a(key, $0.rawValue) == 1 }
            guard let curve else { return nil }
            self = .edwards(curve)
        }
    }
}

/// A PEM block: its label, and the location of its base64.
///
/// Files are often written from environment variables or JSON. So a line may be indented, in quotation marks, or end
/// with `\n` or `\r\n` as two or four characters: none of these occurs in PEM, and reading them copies no key.
struct PEMBlock {
    let label: String
    private let content: Range<Int>

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    /// All blocks of a text.
    static func all(in text: Span<UInt8>) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, start: Int)?
        var position = 0
        while position < text.count {
            var lineEnd = position
            while lineEnd < text.count, text[lineEnd] != 0x0a, !isEscape("n", in: text, at: lineEnd) { lineEnd += 1 }
            let next = min(lineEnd + (lineEnd < text.count && text[lineEnd] == backslash ? 2 : 1), text.count)
            let line = text.extracting(trimmed(position..<lineEnd, in: text))
            if let label = label(of: line, after: begin) {
                open = (label, next)
            } else if let current = open, let label = label(of: line, after: end), label == current.label {
                blocks.append(PEMBlock(label: label, content: current.start..<position))
                open = nil
            }
            position = next
        }
        return blocks
    }

    private static func label(of line: Span<UInt8>, after prefix: [UInt8]) -> String? {
        let length = line.count - prefix.count - dashes.count
        guard length > 0, length <= 64, hasPrefix(prefix, line),
            hasPrefix(dashes, line.extracting((line.count - dashes.count)...))
        else { return nil }
        let label = (prefix.count..<(prefix.count + length)).map { line[$0] }
        // RFC 7468, section 3 allows printable characters; all known labels use only these.
        guard label.allSatisfy({ (0x41...0x5a).contains($0) || $0.isDigit || $0 == 0x20 }) else { return nil }
        return String(decoding: label, as: UTF8.self)
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || (0x09...0x0d).contains(octet) }

    private static let backslash = UInt8(ascii: "\\")

    /// Whether a backslash and this character are at a place.
    private static func isEscape(_ character: Unicode.Scalar, in text: Span<UInt8>, at place: Int) -> Bool {
        text[place] == backslash && place + 1 < text.count && text[place + 1] == UInt8(ascii: character)
    }

    /// The part of a range that is not white space or a quotation mark around it.
    private static func trimmed(_ range: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
        func isAround(_ octet: UInt8) -> Bool {
            isSpace(octet) || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "'")
        }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isAround(text[start]) { start += 1 }
        while start < end {
            if isAround(text[end - 1]) {
                end -= 1
            } else if end - start > 1, isEscape("r", in: text, at: end - 2) {
                end -= 2
            } else {
                break
            }
        }
        return start..<end
    }

    /// The content of a block. The caller overwrites it if it is secret.
    func decoded(from text: Span<UInt8>) -> [UInt8]? {
        // Reserved at once, because a reallocation would leave a copy of a key in memory.
        var characters: [UInt8] = []
        characters.reserveCapacity(content.count)
        defer { wipe(&characters) }
        var place = content.lowerBound
        while place < content.upperBound {
            if Self.isEscape("n", in: text, at: place) || Self.isEscape("r", in: text, at: place) {
                place += 2
            } else {
                if !Self.isSpace(text[place]) { characters.append(text[place]) }
                place += 1
            }
        }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard !characters.isEmpty, characters.count % 4 == 0, padding <= 2,
            characters.dropLast(padding).allSatisfy({ $0.isLetterOrDigit || "+/".utf8.contains($0) })
        else { return nil }
        var octets = [UInt8](repeating: 0, count: characters.count / 4 * 3)
        let count = unsafe EVP_DecodeBlock(&octets, characters, CInt(characters.count))
        guard count == octets.count else {
            wipe(&octets)
            return nil
        }
        octets.removeLast(padding)
        return octets
    }

    private static func hasPrefix(_ prefix: [UInt8], _ text: Span<UInt8>) -> Bool {
        prefix.count <= text.count && prefix.indices.allSatisfy { text[$0] == prefix[$0] }
    }

    private static func contains(_ part: [UInt8], _ text: Span<UInt8>) -> Bool {
        text.indices.contains { hasPrefix(part, text.extracting($0...)) }
    }

    /// The DER of the one PKCS#8 private key in a text.
    fileprivate static func privateKey(in text: Span<UInt8>) throws(PrivateKeyError) -> [UInt8] {
        let blocks = all(in: text)
        if blocks.contains(where: { $0.label == "ENCRYPTED PRIVATE KEY" }) { throw .encrypted }
        if let other = blocks.first(where: { $0.label != "PRIVATE KEY" && $0.label.hasSuffix(" PRIVATE KEY") }) {
            throw .otherFormat(label: other.label)
        }
        guard let block = blocks.first(where: { $0.label == "PRIVATE KEY" }) else {
            if !blocks.isEmpty { throw .notPrivate }
            for index in text.indices where text[index] == 0 || text[index] > 0x7e { throw .notText }
            let text = text.extracting(trimmed(0..<text.count, in: text))
            if contains(begin, text) || contains(end, text) { throw .noLines }
            if text.count >= 64 {
                // "-----BEGIN ", and the beginning of a SEQUENCE in DER.
                if hasPrefix(Array("LS0tLS1CRUdJTi".utf8), text) { throw .encodedAgain }
                if text[0] == UInt8(ascii: "M"), (0x41...0x50).contains(text[1]) { throw .onlyBase64 }
            }
            throw .noKey
        }
        guard blocks.count == 1 else { throw .severalKeys }
        guard let der = block.decoded(from: text) else { throw .malformed }
        return der
    }
}
