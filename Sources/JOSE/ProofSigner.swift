package import OpenSSL

/// Makes DPoP proofs with one key, by ES256.
///
/// - Source: RFC 9449, section 4.2.
package struct ProofSigner: Sendable {
    private let signer: JWSSigner
    /// The JOSE header of every proof.
    private let header: [UInt8]
    /// `jkt`: the thumbprint of the public key (RFC 7638).
    package let thumbprint: String

    /// - Throws: ``OpenSSLError``, also for a key that is not on P-256.
    package init(_ key: SigningKey) throws(OpenSSLError) {
        guard let signer = JWSSigner(key, .es256) else { throw .unspecified }
        let coordinates = try key.publicComponents().map {
            String(decoding: Base64URL.encode($0.octets), as: UTF8.self)
        }
        guard coordinates.count == 2,
            let key = JWK([
                "kty": .string("EC"), "crv": .string("P-256"), "x": .string(coordinates[0]),
                "y": .string(coordinates[1]),
            ])
        else { throw .unspecified }
        self.signer = signer
        thumbprint = key.thumbprint
        var header = JSONWriter()
        header.beginObject()
        header.member("typ", "dpop+jwt")
        header.member("alg", signer.algorithm.rawValue)
        header.name("jwk")
        header.beginObject()
        header.member("kty", "EC")
        header.member("crv", "P-256")
        header.member("x", coordinates[0])
        header.member("y", coordinates[1])
        header.endObject()
        header.endObject()
        self.header = header.bytes
    }

    /// A new proof, for one request.
    ///
    /// - Parameters:
    ///   - url: of the request. Its query and fragment are left out.
    ///   - accessToken: that the request has; `nil` for none.
    ///   - nonce: that the server demands; `nil` for none.
    ///   - now: Unix time in seconds.
    /// - Throws: ``OpenSSLError``.
    package func proof(
        method: String, url: String, accessToken: String?, nonce: String?, now: Int64
    ) throws(OpenSSLError) -> String {
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("jti", String(decoding: Base64URL.encode(try randomBytes(16)), as: UTF8.self))
        claims.member("htm", method)
        claims.member("htu", String(url.prefix { $0 != "?" && $0 != "#" }))
        claims.member("iat", now)
        if let accessToken {
            let hash = try DigestContext().digest(Array(accessToken.utf8).span, with: .sha256)
            claims.member("ath", String(decoding: Base64URL.encode(hash), as: UTF8.self))
        }
        if let nonce { claims.member("nonce", nonce) }
        claims.endObject()
        return String(decoding: try signer.compactJWS(header: header, payload: claims.bytes), as: UTF8.self)
    }
}
