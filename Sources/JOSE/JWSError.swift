/// Why a JWS was not verified. Without text from the token, so that an error can be logged.
public enum JWSError: Error, Equatable, Sendable {
    /// Not three parts of strict base64url, or a header that is not one strict JSON object with well-typed members.
    case malformed(JWSPart)
    /// Five parts: an encrypted token (JWE), which needs a private key nobody gave us.
    case encrypted
    /// A header parameter that must be understood, and is not: `crit`, `b64` or `zip`.
    case headerUnsupported
    /// `alg` is missing, unknown, or not among those allowed.
    case algorithmNotAllowed
    /// No key in the set fits the header.
    case keyNotFound
    /// The key that fits is too small, malformed, or not on its curve.
    case keyUnsuitable
    /// The signature does not hold.
    case signatureInvalid
    /// OpenSSL failed at something no token can bring about.
    case cryptographyUnavailable
}

/// A part of a compact JWS.
public enum JWSPart: Equatable, Sendable {
    /// The whole: its number of parts, or its length.
    case serialization
    case header
    case payload
    case signature
}
