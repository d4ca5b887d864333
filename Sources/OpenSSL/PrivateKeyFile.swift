private import COpenSSL

/// What a key pair is generated with.
enum KeyGenerationParameter {
    case none
    /// The length of an RSA modulus.
    case bits(Int)
    case group(String)
}

/// Generates an `EVP_PKEY` of the named type; the caller owns it.
///
/// - Throws: ``OpenSSLError``, also for parameters that OpenSSL rejects.
func generateKey(_ type: String, _ parameter: KeyGenerationParameter) throws(OpenSSLError) -> OpaquePointer {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .drain() }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try check(unsafe EVP_PKEY_keygen_init(context))
    switch parameter {
    case .none: break
    case .bits(let bits): try check(unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(bits)))
    case .group(let name): try check(unsafe EVP_PKEY_CTX_set_group_name(context, name))
    }
    var key: OpaquePointer?
    try check(unsafe EVP_PKEY_generate(context, &key))
    guard let key = unsafe key else { throw .drain() }
    return unsafe key
}

/// `x` of an X25519, Ed25519 or Ed448 key.
///
/// - Throws: ``OpenSSLError``.
func rawPublicKey(of key: OpaquePointer, length: Int) throws(OpenSSLError) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: length)
    var count = length
    try check(unsafe EVP_PKEY_get_raw_public_key(key, &octets, &count))
    return octets
}

/// A private key in PKCS#8, in PEM.
///
/// - Throws: ``OpenSSLError``.
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
    ///
    /// - Throws: ``OpenSSLError``.
    package func pem() throws(OpenSSLError) -> SecretBytes { try unsafe OpenSSL.pem(of: pointer) }
}

extension DecryptionKey {
    /// The text of a file that ``init(pem:)`` reads.
    ///
    /// - Throws: ``OpenSSLError``.
    package func pem() throws(OpenSSLError) -> SecretBytes { try unsafe OpenSSL.pem(of: pointer) }
}
