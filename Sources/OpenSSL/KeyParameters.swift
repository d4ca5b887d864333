private import COpenSSL

/// One named component of a key, as `EVP_PKEY_fromdata` takes it.
enum KeyParameter {
    /// An unsigned integer in big-endian octets.
    case number(String, bigEndian: [UInt8])
    case octets(String, [UInt8])
    case text(String, String)

    fileprivate var name: String {
        switch self {
        case .number(let name, _), .octets(let name, _), .text(let name, _): name
        }
    }

    /// OpenSSL reads integers in the machine's own order, which is little-endian wherever Debian's libssl and Swift meet.
    fileprivate var value: [UInt8] {
        switch self {
        case .number(_, let octets): octets.reversed()
        case .octets(_, let octets): octets
        case .text(_, let text): Array(text.utf8)
        }
    }
}

/// Builds a public `EVP_PKEY` of the named type; the caller owns it.
///
/// - Throws: ``KeyMaterialError/malformed`` where OpenSSL refuses the components.
func makePublicKey(type: String, _ parameters: [KeyParameter]) throws(KeyMaterialError) -> OpaquePointer {
    // An `OSSL_PARAM` points to its name and value: one buffer holds all of them for the time of the call.
    var storage: [UInt8] = []
    let fields = parameters.map { parameter in
        let name = storage.count
        storage += Array(parameter.name.utf8) + [0]
        let value = storage.count
        storage += parameter.value
        let length = storage.count - value
        // OpenSSL 3.0 reads a name's text to its NUL, whatever the length says.
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
        // Whatever the queue says, the components were at fault.
        _ = OpenSSLError.drain()
        throw .malformed
    }
    return unsafe key
}
