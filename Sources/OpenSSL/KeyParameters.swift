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
