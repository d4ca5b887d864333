private import Bytes
package import OpenSSL

/// A JWS whose signature was verified with a key of the given set. Only ``JWSVerifier`` creates one.
public struct VerifiedJWS: Sendable {
    fileprivate let jws: CompactJWS
    /// The algorithm with which it was verified.
    public let algorithm: SignatureAlgorithm
    fileprivate let keyKind: PublicKeyKind
    /// The issuer to which the key is restricted.
    package let keyIssuer: String?

    public var header: JOSEHeader { jws.header }
    /// The decoded payload that was signed.
    public var payload: [UInt8] { jws.payload }

    /// The hash function of `at_hash` and `c_hash` for the algorithm.
    package var tokenHash: DigestAlgorithm {
        let curve: EdwardsCurve? = if case .edwards(let curve) = keyKind { curve } else { nil }
        return algorithm.tokenHash(edwardsCurve: curve)
    }
}

/// Verifies JWS signatures (RFC 7515, section 5.2).
///
/// Not `Sendable`: create one for each thread and keep it, because it reuses OpenSSL's contexts for a key.
public final class JWSVerifier {
    package let checker: SignatureChecker
    package let headerCache = JOSEHeaderCache()

    /// The most keys that are tried for a token without `kid`, to bound its cost.
    public static let maximumKeysTried = 4

    /// - Parameter signatureCacheCapacity: the number of valid signatures to remember, so that a repeated token costs
    ///   no second signature check; 0 turns the cache off.
    /// - Throws: ``JWSError/cryptographyUnavailable`` when out of memory.
    public init(signatureCacheCapacity: Int = 0) throws(JWSError) {
        do throws(OpenSSLError) {
            checker = try SignatureChecker(signatureCacheCapacity: signatureCacheCapacity)
        } catch {
            throw .cryptographyUnavailable
        }
    }

    /// Verifies the signature of a JWS.
    ///
    /// - Parameters:
    ///   - jws: the JWS to verify.
    ///   - keys: the issuer's keys.
    ///   - algorithms: the algorithms that the issuer may use; the token's `alg` must be one of them.
    /// - Throws: ``JWSError``: `headerUnsupported`, `algorithmNotAllowed`, `keyNotFound`, `keyUnsuitable`,
    ///   `signatureInvalid`, checked in this order.
    /// - Source: RFC 7515, section 5.2; RFC 8725, sections 3.1 to 3.3.
    public func verify(
        _ jws: CompactJWS, with keys: JWKSet, allowing algorithms: SignatureAlgorithms
    ) throws(JWSError) -> VerifiedJWS {
        try verify(jws, with: keys, by: checkHeader(jws.header, allowing: algorithms))
    }

    /// Verifies the signature of a JWS whose header has been checked.
    ///
    /// - Parameter algorithm: the header's algorithm.
    /// - Throws: ``JWSError``: `keyNotFound`, `keyUnsuitable`, `signatureInvalid`, `cryptographyUnavailable`.
    package func verify(
        _ jws: CompactJWS, with keys: JWKSet, by algorithm: SignatureAlgorithm
    ) throws(JWSError) -> VerifiedJWS {
        var isFound = false
        var tried = 0
        for candidate in keys.candidates(keyID: jws.header.keyID) where tried < Self.maximumKeysTried {
            guard candidate.algorithms.contains(algorithm) else { continue }
            isFound = true
            guard let key = candidate.publicKey, let scheme = algorithm.scheme(for: key.kind) else { continue }
            tried += 1
            if try isValid(jws, key, scheme) {
                headerCache.insert(jws)
                return VerifiedJWS(jws: jws, algorithm: algorithm, keyKind: key.kind, keyIssuer: candidate.issuer)
            }
        }
        throw !isFound ? .keyNotFound : tried == 0 ? .keyUnsuitable : .signatureInvalid
    }

    /// Runs the checks that need no key, and returns the algorithm to verify with.
    ///
    /// - Throws: ``JWSError/headerUnsupported``, ``JWSError/algorithmNotAllowed``.
    @discardableResult
    package func checkHeader(
        _ header: JOSEHeader, allowing algorithms: SignatureAlgorithms
    ) throws(JWSError) -> SignatureAlgorithm {
        guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
        guard let algorithm = header.algorithm, algorithms.contains(algorithm) else { throw .algorithmNotAllowed }
        return algorithms.narrowed(algorithm)
    }

    private func isValid(_ jws: CompactJWS, _ key: PublicKey, _ scheme: SignatureScheme) throws(JWSError) -> Bool {
        do throws(OpenSSLError) {
            let (signature, signingInput) = (jws.signature, jws.signingInput)
            return try checker.isValid(signature.span, of: signingInput.span, by: key, scheme)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}

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

/// The public key for a JWS's signature in its own header, as proofs of possession have it.
///
/// The JWS's creator chose the key: a signature by it proves possession, and nothing else.
///
/// - Source: RFC 7515, section 4.1.3.
package struct EmbeddedKey: Sendable {
    /// Identifies the key: the SHA-256 of its type and public members (RFC 7638), in base64url.
    package let thumbprint: String
    fileprivate let material: KeyMaterial
    fileprivate let algorithms: SignatureAlgorithms

    /// `nil` unless it is a public key that can verify, written strictly. Whether its point is on the curve is not
    /// checked here.
    ///
    /// - Source: RFC 7517, section 9.2.
    fileprivate init?(_ members: JSONObject) {
        guard Names.privateMembers.allSatisfy({ members.kind(of: $0) == nil }),
            let keyType = members[Names.keyType]?.string
        else { return nil }
        let curve = members[Names.curve]?.string
        let found = try? KeyMaterial(keyType: keyType, curve: curve) { name in
            members[name].map { $0.utf8.flatMap { Base64URL.decode($0.span) } }
        }
        algorithms = SignatureAlgorithms(
            fitting: keyType, curve, keyAlgorithm: members[Names.algorithm].map(\.string),
            use: members[Names.use].map(\.string),
            operations: members[Names.operations].map { $0.elements?.map(\.string) })
        guard let found, !algorithms.isEmpty,
            let thumbprint = keyThumbprint(keyType: keyType, { members[$0]?.string })
        else { return nil }
        material = found
        self.thumbprint = thumbprint
    }

    private enum Names {
        static let keyType: JSONName = "kty"
        static let curve: JSONName = "crv"
        static let algorithm: JSONName = "alg"
        static let use: JSONName = "use"
        static let operations: JSONName = "key_ops"
        /// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
        static let privateMembers: [JSONName] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
    }
}

extension CompactJWS {
    /// The header's `jwk`; `nil` if it is no public key that can verify.
    package var embeddedKey: EmbeddedKey? { headerObject?[Self.key]?.object.flatMap(EmbeddedKey.init) }

    private static let key: JSONName = "jwk"
}

extension JWSVerifier {
    /// Checks that a JWS was signed with the key in it. Nothing of the key is remembered, so that keys which anyone can
    /// create take no room from those of providers.
    ///
    /// - Throws: ``JWSError``: `keyUnsuitable` if the key's point is not on its curve; `signatureInvalid`,
    ///   `cryptographyUnavailable`.
    package func checkSignature(
        of jws: CompactJWS, by key: EmbeddedKey, with algorithm: SignatureAlgorithm
    ) throws(JWSError) {
        guard key.algorithms.contains(algorithm), let scheme = algorithm.scheme(for: key.material.kind) else {
            throw .signatureInvalid
        }
        let (signature, signingInput) = (jws.signature, jws.signingInput)
        let verdict: UnfamiliarVerdict
        do throws(OpenSSLError) {
            verdict = try checker.verdict(
                on: signature.span, of: signingInput.span, byUnfamiliar: key.material, scheme)
        } catch {
            throw .cryptographyUnavailable
        }
        switch verdict {
        case .valid: return
        case .invalid: throw .signatureInvalid
        case .keyMalformed: throw .keyUnsuitable
        }
    }
}
