private import Bytes
package import OpenSSL

/// A JWS whose signature was verified with a key of the given set. Only ``JWSVerifier`` creates one.
public struct VerifiedJWS: Sendable {
    private let jws: CompactJWS
    /// The algorithm with which it was verified.
    public let algorithm: SignatureAlgorithm
    private let keyKind: PublicKeyKind
    /// The issuer to which the key is restricted.
    package let keyIssuer: String?

    fileprivate init(
        _ jws: CompactJWS, _ algorithm: SignatureAlgorithm, _ keyKind: PublicKeyKind, keyIssuer: String?
    ) {
        self.jws = jws
        self.algorithm = algorithm
        self.keyKind = keyKind
        self.keyIssuer = keyIssuer
    }

    public var header: JOSEHeader { jws.header }
    /// The decoded payload that was signed.
    public var payload: [UInt8] { jws.payload }

    /// The hash function of `at_hash` and `c_hash` for the algorithm.
    package var tokenHash: DigestAlgorithm {
        if case .edwards(let curve) = keyKind {
            algorithm.tokenHash(edwardsCurve: curve)
        } else {
            algorithm.tokenHash(edwardsCurve: nil)
        }
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
            guard case .usable(let key) = candidate.material, let scheme = algorithm.scheme(for: key.kind) else {
                continue
            }
            tried += 1
            if try isValid(jws, key, scheme) {
                headerCache.insert(jws)
                return VerifiedJWS(jws, algorithm, key.kind, keyIssuer: candidate.issuer)
            }
        }
        throw !isFound ? .keyNotFound : tried == 0 ? .keyUnsuitable : .signatureInvalid
    }

    /// Runs the checks that need no key, and returns the algorithm.
    ///
    /// - Throws: ``JWSError/headerUnsupported``, ``JWSError/algorithmNotAllowed``.
    @discardableResult
    package func checkHeader(
        _ header: JOSEHeader, allowing algorithms: SignatureAlgorithms
    ) throws(JWSError) -> SignatureAlgorithm {
        guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
        guard let algorithm = header.algorithm, algorithms.contains(algorithm) else { throw .algorithmNotAllowed }
        return algorithm
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

/// A JWS that contains the public key for its signature, as proofs of possession do.
extension CompactJWS {
    /// The header's `jwk`; `nil` unless it is a public key that can verify, written strictly.
    ///
    /// Whoever created the JWS chose the key: a signature by it proves possession, and nothing else.
    ///
    /// - Source: RFC 7515, section 4.1.3; RFC 7517, section 9.2.
    package var embeddedKey: JWK? {
        guard let value = headerObject?["jwk"], value.kind == .object,
            let members = (try? JSONTree(readingObject: Array(value.json)))?.object,
            Self.privateMembers.allSatisfy({ members[$0] == nil }),
            Self.numbers.allSatisfy({ members[$0]?.string.map(Self.isStrict) ?? true }),
            let key = JWK(members), key.isUsable
        else { return nil }
        return key
    }

    private static func isStrict(_ text: String) -> Bool { Base64URL.decode(text.utf8.span) != nil }

    private static let numbers = ["n", "e", "x", "y"]
    /// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
}

extension JWSVerifier {
    /// Whether a key has signed a JWS. For a key that is rarely seen twice: nothing of it is remembered, so that keys
    /// which anyone can create take no room from those of providers.
    ///
    /// - Throws: ``JWSError/cryptographyUnavailable``.
    package func isSigned(
        _ jws: CompactJWS, by key: JWK, with algorithm: SignatureAlgorithm
    ) throws(JWSError) -> Bool {
        guard key.algorithms.contains(algorithm), case .usable(let publicKey) = key.material,
            let scheme = algorithm.scheme(for: publicKey.kind)
        else { return false }
        do throws(OpenSSLError) {
            let (signature, signingInput) = (jws.signature, jws.signingInput)
            return try checker.isValid(signature.span, of: signingInput.span, byUnfamiliar: publicKey, scheme)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}
