private import Bytes
internal import JOSE
private import OpenSSL

/// A client's key for DPoP proofs, which a script need not have itself.
struct DevProofKey {
    private let signer: ProofSigner

    /// A new key for ES256.
    ///
    /// - Throws: ``OpenSSLError``.
    init() throws { signer = try ProofSigner(try SigningKey(generating: .ellipticCurve(.p256))) }

    /// `jkt`.
    var thumbprint: String { signer.thumbprint }

    /// A proof for one request with an access token.
    ///
    /// - Throws: ``OpenSSLError``.
    func proof(for request: DevProofRequest, token: String, now: Int64) throws -> String {
        try signer.proof(
            method: request.method, url: request.url, accessToken: token, nonce: request.nonce, now: now)
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
