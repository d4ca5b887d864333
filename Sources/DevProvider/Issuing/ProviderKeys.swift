internal import JOSE
internal import JSON
internal import OpenSSL

/// The signing keys of one development provider: the current one, and the one before it, which stays published.
struct ProviderKeys {
    private var signer: JWSSigner
    private(set) var keyID: String
    /// As JWKs, the current one first.
    private var published: [JSONTree]

    /// - Throws: ``OpenSSLError``.
    init(_ key: SigningKey) throws {
        signer = JWSSigner(key)
        keyID = try Self.newID()
        published = [try Self.jwk(key, signer, keyID)]
    }

    /// Signs with another key from now on.
    ///
    /// - Parameter inPlace: whether the key reuses the `kid` of the previous one, which is no longer published. A
    ///   provider that does this invalidates the caches of all its clients.
    /// - Throws: ``OpenSSLError``.
    mutating func rotate(to key: SigningKey, inPlace: Bool) throws {
        signer = JWSSigner(key)
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
    /// - Throws: ``OpenSSLError``.
    func sign(_ claims: [String: JSONTree], type: String?) throws -> String {
        var header: [String: JSONTree] = ["alg": .string(signer.algorithm.rawValue), "kid": .string(keyID)]
        if let type { header["typ"] = .string(type) }
        let octets = try signer.compactJWS(header: JSONTree.object(header).json, payload: JSONTree.object(claims).json)
        return String(decoding: octets, as: UTF8.self)
    }

    /// The left half of a hash in base64url, as in `at_hash` (OpenID Connect Core 1.0, section 3.1.3.6).
    ///
    /// - Throws: ``OpenSSLError``.
    func halfHash(_ text: String) throws -> String {
        let algorithm = signer.algorithm.tokenHash(edwardsCurve: .ed25519)
        let hash = try DigestContext().digest(Array(text.utf8).span, with: algorithm)
        return String(decoding: Base64URL.encode(Array(hash.prefix(hash.count / 2))), as: UTF8.self)
    }

    private static func newID() throws -> String {
        DevelopmentKeys.keyIDPrefix + String(decoding: Base64URL.encode(try randomBytes(6)), as: UTF8.self)
    }

    private static func jwk(_ key: SigningKey, _ signer: JWSSigner, _ keyID: String) throws -> JSONTree {
        var members: [String: JSONTree] = [
            "use": .string("sig"), "alg": .string(signer.algorithm.rawValue), "kid": .string(keyID),
        ]
        switch key.kind {
        case .rsa: members["kty"] = .string("RSA")
        case .ellipticCurve(let curve):
            members["kty"] = .string("EC")
            members["crv"] = .string(curve.rawValue)
        case .edwards(let curve):
            members["kty"] = .string("OKP")
            members["crv"] = .string(curve.rawValue)
        }
        for (name, octets) in try key.publicComponents() {
            members[name] = .string(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
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

extension PublicKeyKind {
    /// The kind of key for tokens that may be signed with these algorithms: RSA if RS256 is one of them.
    init(for algorithms: SignatureAlgorithms?) {
        guard let algorithms, !algorithms.contains(.rs256) else {
            self = .rsa(modulusLength: 256)
            return
        }
        if algorithms.contains(.es256) {
            self = .ellipticCurve(.p256)
        } else if algorithms.contains(.es384) {
            self = .ellipticCurve(.p384)
        } else if algorithms.contains(.es512) {
            self = .ellipticCurve(.p521)
        } else {
            self = .edwards(.ed25519)
        }
    }
}
