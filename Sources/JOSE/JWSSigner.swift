package import OpenSSL

/// Signs with one key and one algorithm.
package struct JWSSigner: Sendable {
    private let key: SigningKey
    private let scheme: SignatureScheme
    package let algorithm: SignatureAlgorithm

    /// Signs with the algorithm that most verifiers support for a key of this kind.
    package init(_ key: SigningKey) {
        self.key = key
        switch key.kind {
        case .rsa: (algorithm, scheme) = (.rs256, .rsaPKCS1(.bits256))
        case .ellipticCurve(.p256): (algorithm, scheme) = (.es256, .ecdsa(.p256))
        case .ellipticCurve(.p384): (algorithm, scheme) = (.es384, .ecdsa(.p384))
        case .ellipticCurve(.p521): (algorithm, scheme) = (.es512, .ecdsa(.p521))
        case .edwards(let curve): (algorithm, scheme) = (.edDSA, .edwards(curve))
        }
    }

    /// - Returns: `nil` if the key can't sign with this algorithm.
    package init?(_ key: SigningKey, _ algorithm: SignatureAlgorithm) {
        guard let scheme = algorithm.scheme(for: key.kind) else { return nil }
        self.key = key
        self.scheme = scheme
        self.algorithm = algorithm
    }

    /// A JWS in compact serialization (RFC 7515, section 3.1).
    ///
    /// - Parameters:
    ///   - header: the JOSE header as JSON. It should name ``algorithm``.
    ///   - payload: any octets.
    /// - Throws: ``OpenSSLError``.
    package func compactJWS(header: [UInt8], payload: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
        return input + [UInt8(ascii: ".")] + Base64URL.encode(try key.sign(input, scheme))
    }
}

/// The signing keys of `assay dev`, which sign whatever they are asked to. Nothing else may trust them.
package enum DevelopmentKeys {
    /// The beginning of each of their `kid`s, so that they can't be mistaken for a real provider's.
    package static let keyIDPrefix = "assay-dev-"

    /// Whether a key with this `kid` is one of them.
    package static func contain(_ keyID: String?) -> Bool { keyID?.utf8.starts(with: keyIDPrefix.utf8) == true }
}

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
        guard let signer = JWSSigner(key, .es256),
            let jwk = JWK(JWK.publicMembers(key.kind, try key.publicComponents()))
        else { throw .unspecified }
        self.signer = signer
        thumbprint = jwk.thumbprint
        var header = JSONWriter()
        header.beginObject()
        header.member("typ", "dpop+jwt")
        header.member("alg", signer.algorithm.rawValue)
        header.name("jwk")
        // Writes kty, crv, x and y: this key has no other members.
        jwk.write(to: &header)
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
