private import Bytes
public import JOSE
private import OpenSSL

/// The settings for all DPoP proofs.
public struct ProofRules: Sendable, Equatable {
    /// The algorithms that clients may sign their proofs with.
    public var algorithms: SignatureAlgorithms = [.es256, .es384, .es512, .edDSA, .ed25519, .rs256, .ps256]
    /// The maximum age of a proof, in seconds, apart from clock skew.
    public var maximumAgeSeconds: Int64 = 60
    /// Whether a proof passes only once.
    package var passesOnce = true
    /// Whether a proof must have a nonce.
    package var needsNonce = false

    public init() {}
}

/// The requirements on the proofs of one provider, resource or policy, where they differ from the settings for all
/// proofs.
package struct ProofUse: Sendable, Equatable {
    /// Whether a proof passes only once; `nil`: as in more general settings.
    package var passesOnce: Bool?
    /// Whether a proof must have a nonce; `nil`: as in more general settings.
    package var needsNonce: Bool?

    package init() {}

    /// - Parameter provider: the requirements of the token's provider. These, of a resource or policy, take precedence.
    package func needsNonce(beside provider: ProofUse, under rules: ProofRules) -> Bool {
        needsNonce ?? provider.needsNonce ?? rules.needsNonce
    }

    fileprivate func passesOnce(beside provider: ProofUse, under rules: ProofRules) -> Bool {
        passesOnce ?? provider.passesOnce ?? rules.passesOnce
    }
}

/// The rules, and the nonces, with which the proofs of every request are checked.
package struct ProofChecks: Sendable {
    package let rules: ProofRules
    package let nonces: ProofNonces
    /// `false` for an explanation, which may come long after the request.
    package var checksNonceAge = true

    package init(_ rules: ProofRules, _ nonces: ProofNonces) {
        self.rules = rules
        self.nonces = nonces
    }
}

/// A DPoP proof that is not checked yet, and the request that it was sent with.
public struct PresentedProof: Sendable {
    /// The value of the header `DPoP`.
    let text: ArraySlice<UInt8>
    let method: String
    /// `nil` if the client sent a URL that no proof can name.
    let target: TargetURI?
    /// Whether the request has the `Authorization` scheme of bound tokens.
    let hasScheme: Bool
    let checks: ProofChecks
    /// Of the resource or the policy that the request is for.
    package var use: ProofUse

    /// - Parameter scheme: of `Authorization`, compared without case.
    package init(
        _ text: ArraySlice<UInt8>, method: String, target: TargetURI?, scheme: String, by checks: ProofChecks,
        for use: ProofUse = ProofUse()
    ) {
        self.text = text
        self.method = method
        self.target = target
        hasScheme = scheme.lowercased() == "dpop"
        self.checks = checks
        self.use = use
    }

    /// - Parameters:
    ///   - text: the value of the request's only header field `DPoP`. Refuse a request with two.
    ///   - method: of the request, such as `GET`.
    ///   - url: the whole URL that the client called: `https`, or `http` for this machine. Build it from a name that you
    ///     know, not from `Host`, which the client chooses.
    ///   - scheme: of the request's `Authorization`, without the token. Only `DPoP`, in any letter case, is right.
    ///   - rules: for all proofs.
    public init(
        _ text: String, method: String, url: String, scheme: String, under rules: ProofRules = ProofRules()
    ) {
        self.init(
            Array(text.utf8)[...], method: method, target: TargetURI(url), scheme: scheme,
            by: ProofChecks(rules, ProofNonces([])))
    }

    /// In bytes.
    static let maximumLength = 8 * 1024
}

/// A DPoP proof that has passed every check but that it is new.
///
/// An attacker who saw the request can repeat it until ``expiresAt``. To prevent that, keep ``identifier`` with
/// ``keyThumbprint`` until then, and refuse a request whose proof is there already.
///
/// - Source: RFC 9449, section 11.1.
public struct DPoPProof: Sendable, Equatable {
    /// `jkt`: the thumbprint of its key.
    public let keyThumbprint: String
    /// `htu`, normalized.
    public let target: String
    /// `jti`.
    public let identifier: String
    /// When it becomes too old, clock skew included.
    public let expiresAt: UnixTime
    /// Whether it passes only once.
    package let passesOnce: Bool
}

/// The reason why a DPoP proof is refused.
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
    ///   - provider: what the token's provider says of proofs.
    /// - Throws: ``Rejection/proofInvalid(_:)``, ``Rejection/bindingMismatch``, ``Rejection/proofNonceRequired``,
    ///   ``Rejection/cryptographyUnavailable``.
    /// - Source: RFC 9449, section 4.3.
    func checkProof(
        _ shown: PresentedProof, of text: ArraySlice<UInt8>, boundTo expected: String, under provider: ProofUse,
        clockSkewSeconds skew: Int64, now: UnixTime
    ) throws(Rejection) -> DPoPProof {
        let rules = shown.checks.rules
        guard shown.text.count <= PresentedProof.maximumLength, let jws = try? CompactJWS(shown.text) else {
            throw .proofInvalid(.form)
        }
        let key = try signingKey(of: jws, rules)
        guard let object = try? JSONObject(jws.payload) else { throw .proofInvalid(.form) }
        guard let claims = ProofClaims(object) else { throw .proofInvalid(.claims) }
        guard claims.method.isExactly(shown.method) else { throw .proofInvalid(.method) }
        guard let target = shown.target, TargetURI(claims.target) == target else { throw .proofInvalid(.target) }
        let expiresAt = claims.issuedAt.advanced(bySeconds: rules.maximumAgeSeconds).advanced(bySeconds: skew)
        guard now <= expiresAt, claims.issuedAt <= now.advanced(bySeconds: skew) else { throw .proofInvalid(.time) }
        let hash = try checker.withHash(of: text.span, .sha256) { Base64URL.encode($0) }
        guard claims.accessTokenHash.elementsEqual(hash) else { throw .proofInvalid(.accessToken) }
        guard key.thumbprint.isExactly(expected) else { throw .bindingMismatch }
        if shown.use.needsNonce(beside: provider, under: rules) {
            try checkNonce(claims.nonce, shown.checks, now: now)
        }
        return DPoPProof(
            keyThumbprint: key.thumbprint, target: target.text, identifier: claims.identifier, expiresAt: expiresAt,
            passesOnce: shown.use.passesOnce(beside: provider, under: rules))
    }

    /// - Parameter nonce: `nil` if the proof has none.
    /// - Throws: ``Rejection/proofNonceRequired``, ``Rejection/cryptographyUnavailable``.
    /// - Source: RFC 9449, section 9.
    private func checkNonce(_ nonce: String?, _ checks: ProofChecks, now: UnixTime) throws(Rejection) {
        do throws(OpenSSLError) {
            if let nonce, let madeAt = try checks.nonces.time(of: nonce),
                !checks.checksNonceAge || ProofNonces.isFresh(madeAt, now: now)
            {
                return
            }
        } catch {
            throw .cryptographyUnavailable
        }
        throw .proofNonceRequired
    }

    /// The key in a proof's header, which has signed it.
    ///
    /// - Throws: ``Rejection/proofInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
    private func signingKey(of jws: CompactJWS, _ rules: ProofRules) throws(Rejection) -> EmbeddedKey {
        guard jws.header.type?.lowercased() == "dpop+jwt", !jws.header.hasUnsupportedParameter else {
            throw .proofInvalid(.type)
        }
        guard let algorithm = jws.header.algorithm, rules.algorithms.contains(algorithm) else {
            throw .proofInvalid(.algorithm)
        }
        guard let key = jws.embeddedKey else { throw .proofInvalid(.key) }
        do throws(JWSError) {
            try checkSignature(of: jws, by: key, with: algorithm)
            return key
        } catch {
            switch error {
            case .keyUnsuitable: throw .proofInvalid(.key)
            case .signatureInvalid: throw .proofInvalid(.signature)
            default: throw Rejection(error)
            }
        }
    }
}

/// The claims of a proof, not yet compared with anything.
private struct ProofClaims {
    let identifier: String
    let method: String
    let target: String
    let issuedAt: UnixTime
    let accessTokenHash: ArraySlice<UInt8>
    /// `nil` if there is none, or no string.
    let nonce: String?

    /// `nil` if one other than the nonce is missing or of another type.
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
        nonce = claims.text(.nonce)
    }

    private static let httpMethod = ClaimName("htm")
    private static let httpTarget = ClaimName("htu")
    private static let accessTokenHash = ClaimName("ath")
}
