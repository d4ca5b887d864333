/// Why a JWS was not verified. It contains no text of the token, so it may be logged.
public enum JWSError: Error, Equatable, Sendable {
    /// The token does not have three parts in strict base64url, or its header is not one strict JSON object with
    /// well-typed members.
    case malformed(JWSPart)
    /// The token has five parts: it is encrypted (JWE).
    case encrypted
    /// The header has a parameter that must be understood and is not: `crit`, `b64` or `zip`.
    case headerUnsupported
    /// `alg` is absent, unknown, or not allowed.
    case algorithmNotAllowed
    /// No key in the set fits the header.
    case keyNotFound
    /// The matching key is too small, malformed, or not on its curve.
    case keyUnsuitable
    /// The signature is wrong.
    case signatureInvalid
    /// OpenSSL failed for a reason that no token can cause.
    case cryptographyUnavailable
}

/// A part of a compact JWS.
public enum JWSPart: Equatable, Sendable {
    /// The whole token: its number of parts, or its length.
    case serialization
    case header
    case payload
    case signature
}
