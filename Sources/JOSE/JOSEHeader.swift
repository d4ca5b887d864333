package import JSON

/// A JOSE header (RFC 7515, section 4), as far as a verifier reads it.
///
/// Members that carry keys or point to them (`jwk`, `jku`, `x5u`, `x5c`, `x5t`) have no place here: they are never read.
public struct JOSEHeader: Sendable, Equatable {
    /// `alg`; `nil` where it is missing, no string, or not a ``SignatureAlgorithm``.
    public let algorithm: SignatureAlgorithm?
    /// `kid`, compared byte for byte; any text.
    public let keyID: String?
    /// `typ`, as written.
    public let type: String?
    /// Whether there is a parameter that would change how the JWS is to be read: `crit`, `b64` or `zip`.
    public let hasUnsupportedParameter: Bool

    /// Reads the JSON text of a header.
    ///
    /// - Throws: ``JWSError/malformed(_:)`` for anything but one strict JSON object, and for a `kid` or `typ` that is no
    ///   string.
    package init(_ json: [UInt8]) throws(JWSError) {
        guard let object = try? JSONObject(json) else { throw .malformed(.header) }
        func string(_ name: JSONName) throws(JWSError) -> String? {
            guard let value = object[name] else { return nil }
            guard let string = value.string else { throw .malformed(.header) }
            return string
        }
        algorithm = (object[Names.alg]?.string).flatMap(SignatureAlgorithm.init(rawValue:))
        keyID = try string(Names.kid)
        type = try string(Names.typ)
        hasUnsupportedParameter = Self.unsupportedParameters.contains { object[$0] != nil }
    }

    /// The parameters that would change how the JWS is to be read.
    // RFC 7515 4.1.11: a name in `crit` that is not understood rejects the JWS, and we understand none. RFC 7797's `b64`
    // would change the signing input; RFC 8725 3.6 advises against `zip`.
    package static let unsupportedParameters: [JSONName] = ["crit", "b64", "zip"]

    private enum Names {
        static let alg: JSONName = "alg"
        static let kid: JSONName = "kid"
        static let typ: JSONName = "typ"
    }
}
