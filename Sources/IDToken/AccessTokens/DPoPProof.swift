private import Bytes
package import JOSE
private import OpenSSL

/// The settings for all DPoP proofs.
package struct ProofRules: Sendable, Equatable {
    package var algorithms: SignatureAlgorithms = [.es256, .es384, .es512, .edDSA, .ed25519, .rs256, .ps256]
    /// The maximum age of a proof, in seconds, apart from clock skew.
    package var maximumAgeSeconds: Int64 = 60

    package init() {}
}

/// A DPoP proof that is not checked yet, and the request that it was sent with.
package struct PresentedProof: Sendable {
    /// The value of the header `DPoP`.
    let text: ArraySlice<UInt8>
    let method: String
    let target: TargetURI
    /// Whether the request has the `Authorization` scheme of bound tokens.
    let hasScheme: Bool
    let rules: ProofRules

    /// - Parameter scheme: of `Authorization`, compared without case.
    package init(_ text: ArraySlice<UInt8>, method: String, target: TargetURI, scheme: String, under rules: ProofRules)
    {
        self.text = text
        self.method = method
        self.target = target
        hasScheme = scheme.lowercased() == "dpop"
        self.rules = rules
    }

    /// In bytes.
    static let maximumLength = 8 * 1024
}

/// A DPoP proof that has passed every check but that it is new.
package struct DPoPProof: Sendable, Equatable {
    /// `jkt`: the thumbprint of its key.
    package let keyThumbprint: String
    /// `htu`, normalized.
    package let target: String
    /// `jti`.
    package let identifier: String
    /// When it becomes too old, clock skew included.
    package let expiresAt: UnixTime
}

/// What is wrong with a DPoP proof.
public enum ProofFault: Equatable, Sendable, CaseIterable {
    case form, type, algorithm, key, signature, claims, method, target, time, accessToken

    /// Completes the sentence "The DPoP proof is refused: …".
    package var text: String {
        switch self {
        case .form:
            "it is not one compact JWS of at most \(PresentedProof.maximumLength) bytes with a JSON object inside, as strict as tokens are"
        case .type: "its typ is not dpop+jwt, or its header has crit, b64 or zip"
        case .algorithm: "its alg is not in dpop.algorithms"
        case .key: "its jwk is missing, not public, malformed or too small"
        case .signature: "its signature is not by the key in jwk"
        case .claims: "its payload lacks jti (1 to 256 characters), htm, htu, iat or ath, or one is of another type"
        case .method: "its htm is not the request's method"
        case .target: "its htu is not the request's URL"
        case .time: "its iat is older than dpop.max_age, or in the future"
        case .accessToken: "its ath is not the hash of the access token"
        }
    }
}

extension JWSVerifier {
    /// Checks that the client has just signed this request with the key that its access token is bound to.
    ///
    /// - Parameters:
    ///   - text: the access token.
    ///   - expected: the token's `jkt`.
    /// - Throws: ``Rejection/proofInvalid(_:)``, ``Rejection/bindingMismatch``, ``Rejection/cryptographyUnavailable``.
    /// - Source: RFC 9449, section 4.3.
    func checkProof(
        _ shown: PresentedProof, of text: ArraySlice<UInt8>, boundTo expected: String, clockSkewSeconds skew: Int64,
        now: UnixTime
    ) throws(Rejection) -> DPoPProof {
        guard shown.text.count <= PresentedProof.maximumLength, let jws = try? CompactJWS(shown.text) else {
            throw .proofInvalid(.form)
        }
        let key = try signingKey(of: jws, shown.rules)
        guard let object = try? JSONObject(jws.payload) else { throw .proofInvalid(.form) }
        guard let claims = ProofClaims(object) else { throw .proofInvalid(.claims) }
        guard claims.method.isExactly(shown.method) else { throw .proofInvalid(.method) }
        guard TargetURI(claims.target) == shown.target else { throw .proofInvalid(.target) }
        let expiresAt = claims.issuedAt.advanced(bySeconds: shown.rules.maximumAgeSeconds).advanced(bySeconds: skew)
        guard now <= expiresAt, claims.issuedAt <= now.advanced(bySeconds: skew) else { throw .proofInvalid(.time) }
        let hash = try checker.withHash(of: text.span, .sha256) { Base64URL.encode($0) }
        guard claims.accessTokenHash.elementsEqual(hash) else { throw .proofInvalid(.accessToken) }
        guard key.thumbprint.isExactly(expected) else { throw .bindingMismatch }
        return DPoPProof(
            keyThumbprint: key.thumbprint, target: shown.target.text, identifier: claims.identifier,
            expiresAt: expiresAt)
    }

    /// The key in a proof's header, which has signed it.
    ///
    /// - Throws: ``Rejection/proofInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
    private func signingKey(of jws: CompactJWS, _ rules: ProofRules) throws(Rejection) -> JWK {
        guard jws.header.type?.lowercased() == "dpop+jwt", !jws.header.hasUnsupportedParameter else {
            throw .proofInvalid(.type)
        }
        guard let algorithm = jws.header.algorithm, rules.algorithms.contains(algorithm) else {
            throw .proofInvalid(.algorithm)
        }
        guard let key = jws.embeddedKey else { throw .proofInvalid(.key) }
        do throws(JWSError) {
            if try isSigned(jws, by: key, with: algorithm) { return key }
        } catch {
            throw Rejection(error)
        }
        throw .proofInvalid(.signature)
    }
}

/// The claims of a proof, not yet compared with anything.
private struct ProofClaims {
    let identifier: String
    let method: String
    let target: String
    let issuedAt: UnixTime
    let accessTokenHash: ArraySlice<UInt8>

    /// `nil` if one is missing or of another type.
    init?(_ object: JSONObject) {
        let claims = Claims(object)
        guard let identifier = claims.text(.tokenID), (1...256).contains(identifier.unicodeScalars.count),
            let method = claims.text(Self.httpMethod), let target = claims.text(Self.httpTarget),
            let issuedAt = try? claims.time(.issuedAt), let hash = try? claims.utf8(Self.accessTokenHash)
        else { return nil }
        self.identifier = identifier
        self.method = method
        self.target = target
        self.issuedAt = issuedAt
        accessTokenHash = hash
    }

    private static let httpMethod = ClaimName("htm")
    private static let httpTarget = ClaimName("htu")
    private static let accessTokenHash = ClaimName("ath")
}
