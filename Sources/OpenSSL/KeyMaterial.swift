private import COpenSSL

/// A named component of a key, in the form that `EVP_PKEY_fromdata` needs.
enum KeyParameter: Sendable {
    /// An unsigned integer in big-endian bytes.
    case number(String, bigEndian: [UInt8])
    case octets(String, [UInt8])
    case text(String, String)

    fileprivate var name: String {
        switch self {
        case .number(let name, _), .octets(let name, _), .text(let name, _): name
        }
    }

    /// OpenSSL reads integers in native byte order, which is little-endian on all platforms with Debian's libssl and
    /// Swift.
    fileprivate var value: [UInt8] {
        switch self {
        case .number(_, let octets): octets.reversed()
        case .octets(_, let octets): octets
        case .text(_, let text): Array(text.utf8)
        }
    }
}

/// Creates a public `EVP_PKEY` of the named type; the caller owns it.
///
/// - Throws: ``KeyMaterialError/malformed`` if OpenSSL rejects the components.
func makePublicKey(type: String, _ parameters: [KeyParameter]) throws(KeyMaterialError) -> OpaquePointer {
    // An `OSSL_PARAM` points to its name and value: one buffer holds all of them during the call.
    var storage: [UInt8] = []
    let fields = parameters.map { parameter in
        let name = storage.count
        storage += Array(parameter.name.utf8) + [0]
        let value = storage.count
        storage += parameter.value
        let length = storage.count - value
        // OpenSSL 3.0 reads a name up to its NUL, and ignores the given length.
        storage.append(0)
        return (name: name, value: value, length: length)
    }
    let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    let isMade = unsafe storage.withUnsafeMutableBytes { storage in
        var list = unsafe zip(parameters, fields).map { parameter, field in
            let name = unsafe storage.baseAddress?.advanced(by: field.name).assumingMemoryBound(to: CChar.self)
            let value = unsafe storage.baseAddress?.advanced(by: field.value)
            return switch parameter {
            case .number:
                unsafe OSSL_PARAM_construct_BN(
                    name, value?.assumingMemoryBound(to: UInt8.self), field.length)
            case .octets: unsafe OSSL_PARAM_construct_octet_string(name, value, field.length)
            case .text:
                unsafe OSSL_PARAM_construct_utf8_string(
                    name, value?.assumingMemoryBound(to: CChar.self), field.length)
            }
        }
        unsafe list.append(OSSL_PARAM_construct_end())
        return unsafe EVP_PKEY_fromdata_init(context) == 1
            && EVP_PKEY_fromdata(context, &key, assayPublicKeySelection(), &list) == 1
    }
    guard isMade, let key = unsafe key else {
        // Whatever the error queue says, the components are the cause.
        _ = OpenSSLError.drain()
        throw .malformed
    }
    return unsafe key
}

/// Generates an `EVP_PKEY` of the named type; the caller owns it.
///
/// - Parameters:
///   - bits: the length of an RSA modulus.
///   - group: the curve of an EC key.
/// - Throws: ``OpenSSLError``, also for parameters that OpenSSL rejects.
func generateKey(_ type: String, bits: Int? = nil, group: String? = nil) throws(OpenSSLError) -> OpaquePointer {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .drain() }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try check(unsafe EVP_PKEY_keygen_init(context))
    if let bits { try check(unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(bits))) }
    if let group { try check(unsafe EVP_PKEY_CTX_set_group_name(context, group)) }
    var key: OpaquePointer?
    try check(unsafe EVP_PKEY_generate(context, &key))
    guard let key = unsafe key else { throw .drain() }
    return unsafe key
}

/// `x` of an X25519, Ed25519 or Ed448 key.
func rawPublicKey(of key: OpaquePointer, length: Int) throws(OpenSSLError) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: length)
    var count = length
    try check(unsafe EVP_PKEY_get_raw_public_key(key, &octets, &count))
    return octets
}

/// A private key in PKCS#8, in PEM.
private func pem(of key: OpaquePointer) throws(OpenSSLError) -> SecretBytes {
    guard let information = unsafe EVP_PKEY2PKCS8(key) else { throw .drain() }
    // Overwrites its copy of the key.
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    let length = Int(unsafe i2d_PKCS8_PRIV_KEY_INFO(information, nil))
    guard length > 0 else { throw .drain() }
    let der = try unsafe SecretBytes(capacity: length) { output throws(OpenSSLError) in
        var end = output.baseAddress
        guard unsafe i2d_PKCS8_PRIV_KEY_INFO(information, &end) == length else { throw .drain() }
        return length
    }
    let (begin, end) = (Array("-----BEGIN PRIVATE KEY-----\n".utf8), Array("\n-----END PRIVATE KEY-----\n".utf8))
    // Base64 and a NUL, in lines of 64 characters.
    var characters = [UInt8](repeating: 0, count: (length + 2) / 3 * 4 + 1)
    defer { wipe(&characters) }
    let count = der.withBytes { der in
        unsafe der.withUnsafeBufferPointer { unsafe Int(EVP_EncodeBlock(&characters, $0.baseAddress, CInt(length))) }
    }
    guard count == characters.count - 1 else { throw .drain() }
    var text: [UInt8] = []
    text.reserveCapacity(begin.count + count + count / 64 + end.count)
    defer { wipe(&text) }
    text += begin
    for index in 0..<count {
        if index > 0, index.isMultiple(of: 64) { text.append(0x0a) }
        text.append(characters[index])
    }
    text += end
    return try SecretBytes(text.span)
}

extension SigningKey {
    /// The text of a file that ``init(pem:)`` reads.
    package func pem() throws(OpenSSLError) -> SecretBytes { try unsafe OpenSSL.pem(of: pointer) }
}

extension DecryptionKey {
    /// The text of a file that ``init(pem:)`` reads.
    package func pem() throws(OpenSSLError) -> SecretBytes { try unsafe OpenSSL.pem(of: pointer) }
}

/// The private number of a key on P-256: all of the key, and short enough for a sealed text.
extension SigningKey {
    /// In octets.
    package static let scalarLength = 32

    /// PKCS#8 (RFC 5958) around an `ECPrivateKey` (RFC 5915) on P-256 without its public half, up to the number.
    private static let scalarPrefix: [UInt8] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]

    /// The private number, big-endian.
    ///
    /// - Throws: ``OpenSSLError``, also for a key that is not on P-256.
    package func scalar() throws(OpenSSLError) -> SecretBytes {
        guard case .ellipticCurve(.p256) = kind else { throw .unspecified }
        var number: OpaquePointer?
        try check(unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number))
        defer { unsafe BN_clear_free(number) }
        return try unsafe SecretBytes(capacity: Self.scalarLength) { output throws(OpenSSLError) in
            let length = CInt(Self.scalarLength)
            guard unsafe BN_bn2binpad(number, output.baseAddress, length) == length else { throw .drain() }
            return Self.scalarLength
        }
    }

    /// A key on P-256 by the number that ``scalar()`` returned; OpenSSL computes the public half.
    ///
    /// - Throws: ``OpenSSLError``, also for octets that are no such number.
    package convenience init(scalar: SecretBytes) throws(OpenSSLError) {
        guard scalar.count == Self.scalarLength else { throw .unspecified }
        var der: [UInt8] = []
        // Reserved at once, because a reallocation would leave a copy of the key in memory.
        der.reserveCapacity(Self.scalarPrefix.count + scalar.count)
        defer { wipe(&der) }
        der += Self.scalarPrefix
        scalar.withBytes { for index in $0.indices { der.append($0[index]) } }
        guard let key = unsafe decodedPrivateKey(der: der) else { throw .unspecified }
        unsafe self.init(takingOwnershipOf: key, kind: .ellipticCurve(.p256))
    }
}
