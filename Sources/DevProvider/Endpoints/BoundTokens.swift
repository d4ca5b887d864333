private import Bytes
private import IDToken
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

    /// A proof for one request with an access token, with the fault that the request wants it to have.
    ///
    /// - Throws: ``OpenSSLError``.
    func proof(for request: DevProofRequest, token: String, now: Int64) throws -> String {
        var wrong = request
        wrong.fault = nil
        switch request.fault {
        case .otherKey: return try DevProofKey().proof(for: wrong, token: token, now: now)
        case .otherToken: return try proof(for: wrong, token: token + "x", now: now)
        case .old: return try proof(for: wrong, token: token, now: now - 7200)
        case .otherMethod: wrong.method = request.method == "POST" ? "GET" : "POST"
        case .otherURL: wrong.url = String(request.url.prefix { $0 != "?" && $0 != "#" }) + "/another"
        case .repeated, .missing, .otherCertificate, nil: break
        }
        return try signer.proof(
            method: wrong.method, url: wrong.url, accessToken: token, nonce: wrong.nonce, now: now)
    }
}

/// The request that a proof is for.
struct DevProofRequest {
    fileprivate(set) var method: String
    fileprivate(set) var url: String
    let nonce: String?
    /// What is wrong with the proof; `nil`: nothing.
    fileprivate(set) var fault: BindingFault?

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

    init(method: String, url: String, nonce: String?, _ fault: BindingFault?) {
        (self.method, self.url, self.nonce, self.fault) = (method, url, nonce, fault)
    }

    /// What an API sends to the service about this request, as `dpop`.
    func evidence(_ proof: String) -> JSONTree {
        .object([
            "proof": .string(proof), "method": .string(method), "url": .string(url), "scheme": .string("DPoP"),
        ])
    }
}

/// What a client can do wrong with a bound token.
enum BindingFault: String, CaseIterable {
    case missing
    case otherMethod = "other_method"
    case otherURL = "other_url"
    case otherToken = "other_token"
    case otherKey = "other_key"
    case old, repeated
    case otherCertificate = "other_certificate"

    /// In a few words.
    var title: String {
        switch self {
        case .missing: "nothing proves the key"
        case .otherMethod: "the proof is for another method"
        case .otherURL: "the proof is for another URL"
        case .otherToken: "the proof is for another token"
        case .otherKey: "the proof is of another key"
        case .old: "the proof is two hours old"
        case .repeated: "the proof was used before"
        case .otherCertificate: "the connection has another certificate"
        }
    }
}

/// A client's certificate.
struct DevCertificate {
    /// As requests to the service have it.
    let text: String
    /// `x5t#S256`.
    let thumbprint: String

    /// - Throws: ``DevRequestError``.
    init(_ text: String) throws {
        guard let thumbprint = CertificateThumbprint(text) else {
            throw DevRequestError(
                "certificate must be one certificate: in PEM, as base64 of its DER, or its SHA-256 in 43 characters of base64url"
            )
        }
        (self.text, self.thumbprint) = (text, thumbprint.text)
    }

    /// The SHA-256 of a certificate that does not exist.
    ///
    /// - Throws: ``OpenSSLError``, and never ``DevRequestError``.
    static func madeUp() throws -> DevCertificate {
        try DevCertificate(String(base64URL: try randomBytes(32)))
    }
}

/// Access tokens that are bound to the key of the client's proofs.
extension EmulatedProvider {
    /// The thumbprint of the key in a request's proof.
    ///
    /// - Parameters:
    ///   - proof: the header `DPoP`.
    ///   - path: of the request, below the provider's URL.
    ///   - token: the access token in the request; `nil` for none.
    /// - Throws: ``DevOAuthError/invalidProof``, ``DevOAuthError/proofNonceNeeded``.
    /// - Source: RFC 9449, section 4.3.
    func key(
        provenBy proof: String, _ method: String, _ path: String, with token: String? = nil, now: Int64
    ) throws -> String {
        guard let jws = try? CompactJWS(proof), jws.header.type == "dpop+jwt", let algorithm = jws.header.algorithm,
            let key = jws.embeddedKey,
            (try? JWSVerifier(signatureCacheCapacity: 0).checkSignature(of: jws, by: key, with: algorithm)) != nil,
            let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            claims["htm"] == .string(method), claims["htu"] == .string(base + path),
            claims["jti"]?.string != nil,
            claims["ath"] == (try token.map { .string(String(base64URL: try sha256($0))) }),
            let issuedAt = claims["iat"]?.integer, (now - 300...now + 300).contains(issuedAt)
        else { throw DevOAuthError.invalidProof }
        if faults.has(.proofNonces) {
            let accepted = [proofNonce(at: now), proofNonce(at: now - Self.proofNonceSeconds)].map(JSONTree.string)
            guard let nonce = claims["nonce"], accepted.contains(nonce) else { throw DevOAuthError.proofNonceNeeded }
        }
        return key.thumbprint
    }

    /// The nonce that proofs need, if they need one. It is accepted for one to two minutes.
    func proofNonce(at now: Int64) -> String { "nonce-\(now / Self.proofNonceSeconds)" }

    private static let proofNonceSeconds: Int64 = 60
}
