internal import IDToken
internal import JOSE
private import JSON
internal import OpenSSL

/// An assertion of `private_key_jwt` (RFC 7523; OpenID Connect Core 1.0, section 9).
enum ClientAssertion {
    private static let lifetimeSeconds: Int64 = 60

    /// A new assertion, for one request.
    ///
    /// - Parameters:
    ///   - thumbprint: the SHA-256 of the certificate in DER, for `x5t#S256`; `nil` for none.
    ///   - audience: the issuer, or the token endpoint for servers that require it.
    /// - Throws: ``OpenSSLError``.
    static func make(
        clientID: String, _ key: SigningKey, keyID: String, thumbprint: [UInt8]?, audience: String, now: UnixTime
    ) throws(OpenSSLError) -> [UInt8] {
        // Microsoft documents PS256 with a certificate. Otherwise the key's own algorithm is used.
        let signer = (thumbprint == nil ? nil : JWSSigner(key, .ps256)) ?? JWSSigner(key)
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", signer.algorithm.rawValue)
        header.member("kid", keyID)
        // Explicit, so that no other JWT that the key signs can pass for an assertion.
        header.member("typ", "client-authentication+jwt")
        if let thumbprint {
            header.member("x5t#S256", String(decoding: Base64URL.encode(thumbprint), as: UTF8.self))
        }
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", clientID)
        claims.member("sub", clientID)
        claims.member("aud", audience)
        claims.member("iat", now.seconds)
        claims.member("exp", now.seconds + lifetimeSeconds)
        claims.member("jti", String(decoding: Base64URL.encode(try randomBytes(16)), as: UTF8.self))
        claims.endObject()
        return try signer.compactJWS(header: header.bytes, payload: claims.bytes)
    }
}
