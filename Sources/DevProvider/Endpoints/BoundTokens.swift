private import Bytes
internal import JOSE
private import OpenSSL

/// A client's key for DPoP proofs, which a script need not have itself.
struct DevProofKey {
    private let signer: JWSSigner
    private let jwk: [String: JSONTree]
    /// `jkt`.
    let thumbprint: String

    /// A new key for ES256.
    ///
    /// - Throws: ``OpenSSLError``.
    init() throws {
        let key = try SigningKey(generating: .ellipticCurve(.p256))
        signer = JWSSigner(key)
        var jwk: [String: JSONTree] = ["kty": .string("EC"), "crv": .string("P-256")]
        for (name, octets) in try key.publicComponents() {
            jwk[name] = .string(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
        self.jwk = jwk
        thumbprint = JWK(jwk)?.thumbprint ?? ""
    }

    /// A proof for one request with an access token.
    ///
    /// - Throws: ``OpenSSLError``.
    /// - Source: RFC 9449, section 4.2.
    func proof(for request: DevProofRequest, token: String, now: Int64) throws -> String {
        let header: [String: JSONTree] = [
            "typ": .string("dpop+jwt"), "alg": .string(signer.algorithm.rawValue), "jwk": .object(jwk),
        ]
        let hash = try DigestContext().digest(Array(token.utf8).span, with: .sha256)
        var claims: [String: JSONTree] = [
            "jti": .string(try randomName()), "htm": .string(request.method), "iat": .integer(now),
            "htu": .string(String(request.url.prefix { $0 != "?" && $0 != "#" })),
            "ath": .string(String(decoding: Base64URL.encode(hash), as: UTF8.self)),
        ]
        if let nonce = request.nonce { claims["nonce"] = .string(nonce) }
        let octets = try signer.compactJWS(header: JSONTree.object(header).json, payload: JSONTree.object(claims).json)
        return String(decoding: octets, as: UTF8.self)
    }
}

/// The request that a proof is for.
struct DevProofRequest {
    let method: String
    let url: String
    let nonce: String?

    /// - Throws: ``DevRequestError``.
    init(_ members: [String: JSONTree]) throws {
        try members.checkNames(["method", "url", "nonce"])
        guard let url = try members.text("url") else {
            throw DevRequestError("dpop needs url: what the client calls, such as https://api.example.com/orders")
        }
        self.url = url
        method = try members.text("method") ?? "GET"
        nonce = try members.text("nonce")
    }

    /// What an API sends to the service about this request, as `dpop`.
    func evidence(_ proof: String) -> JSONTree {
        .object([
            "proof": .string(proof), "method": .string(method), "url": .string(url), "scheme": .string("DPoP"),
        ])
    }
}

/// Access tokens that are bound to the key of the client's proofs.
extension EmulatedProvider {
    /// The thumbprint of the key in the token request's proof.
    ///
    /// - Parameter proof: the header `DPoP`.
    /// - Throws: ``DevOAuthError/invalidProof``, also for a proof that an access token is for.
    /// - Source: RFC 9449, section 5.
    func boundKey(by proof: String, now: Int64) throws -> String {
        guard let jws = try? CompactJWS(proof), jws.header.type == "dpop+jwt", let algorithm = jws.header.algorithm,
            let key = jws.embeddedKey,
            try JWSVerifier(signatureCacheCapacity: 0).isSigned(jws, by: key, with: algorithm),
            let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            claims["htm"] == .string("POST"), claims["htu"] == .string(base + "/token"),
            claims["jti"]?.string != nil, claims["ath"] == nil,
            let issuedAt = claims["iat"]?.integer, (now - 300...now + 300).contains(issuedAt)
        else { throw DevOAuthError.invalidProof }
        return key.thumbprint
    }
}
