package import JOSE
package import OpenSSL

/// The signing keys of one development provider: the current one, and the one before it, which stays published.
/// Functions that throw, throw ``OpenSSLError``.
struct EmulatedKeys {
    private var signer: JWSSigner
    private(set) var keyID: String
    /// As JWKs, the current one first.
    private var published: [JSONTree]

    /// - Parameter algorithm: the algorithm of the tokens; a key of another kind signs with its own.
    init(_ key: SigningKey, _ algorithm: SignatureAlgorithm) throws(OpenSSLError) {
        signer = JWSSigner(key, algorithm) ?? JWSSigner(key)
        keyID = try Self.newID()
        published = [try Self.jwk(key, signer, keyID)]
    }

    /// Signs with another key from now on.
    ///
    /// - Parameter inPlace: whether the key reuses the `kid` of the previous one, which is no longer published. A
    ///   provider that does this invalidates the caches of all its clients.
    mutating func rotate(to key: SigningKey, inPlace: Bool) throws {
        signer = JWSSigner(key, signer.algorithm) ?? JWSSigner(key)
        if !inPlace { keyID = try Self.newID() }
        let jwk = try Self.jwk(key, signer, keyID)
        published = inPlace ? [jwk] : [jwk] + published.prefix(1)
    }

    /// The `alg` of the tokens.
    var algorithm: String { signer.algorithm.rawValue }

    /// The JWK Set.
    ///
    /// - Parameter issuer: the `issuer` of each key; `nil` for none.
    func set(issuer: String?, _ contents: SetContents) -> JSONTree {
        var keys = published
        switch contents {
        case .all: break
        case .none: keys = []
        case .withoutCurrent: keys.removeFirst()
        }
        if let issuer {
            keys = keys.map { key in
                .object((key.object ?? [:]).merging(["issuer": .string(issuer)]) { _, new in new })
            }
        }
        return .object(["keys": .array(keys)])
    }

    enum SetContents { case all, none, withoutCurrent }

    /// Signs claims.
    ///
    /// - Parameter type: `typ`; `nil` for none.
    func sign(_ claims: [String: JSONTree], type: String?) throws -> String {
        var header: [String: JSONTree] = ["alg": .string(signer.algorithm.rawValue), "kid": .string(keyID)]
        if let type { header["typ"] = .string(type) }
        let octets = try signer.compactJWS(header: JSONTree.object(header).json, payload: JSONTree.object(claims).json)
        return String(decoding: octets, as: UTF8.self)
    }

    /// The left half of a hash in base64url, as in `at_hash` (OpenID Connect Core 1.0, section 3.1.3.6).
    func halfHash(_ text: String) throws -> String {
        let curve: EdwardsCurve = signer.algorithm == .ed448 ? .ed448 : .ed25519
        let algorithm = signer.algorithm.tokenHash(edwardsCurve: curve)
        let hash = try DigestContext().digest(Array(text.utf8).span, with: algorithm)
        return String(base64URL: Array(hash.prefix(hash.count / 2)))
    }

    private static func newID() throws(OpenSSLError) -> String {
        DevelopmentKeys.keyIDPrefix + String(base64URL: try randomBytes(6))
    }

    private static func jwk(_ key: SigningKey, _ signer: JWSSigner, _ keyID: String) throws(OpenSSLError) -> JSONTree {
        var members = JWK.publicMembers(key.kind, try key.publicComponents())
        members["use"] = .string("sig")
        members["alg"] = .string(signer.algorithm.rawValue)
        members["kid"] = .string(keyID)
        return .object(members)
    }
}

extension JSONTree {
    /// The value as JSON text.
    var json: [UInt8] {
        var json = JSONWriter()
        json.value(self)
        return json.bytes
    }
}

extension SignatureAlgorithm {
    /// The kind of key that `assay dev` generates for this algorithm.
    package var keyKind: PublicKeyKind {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa(modulusLength: 256)
        case .es256: .ellipticCurve(.p256)
        case .es384: .ellipticCurve(.p384)
        case .es512: .ellipticCurve(.p521)
        case .edDSA, .ed25519: .edwards(.ed25519)
        case .ed448: .edwards(.ed448)
        }
    }
}
