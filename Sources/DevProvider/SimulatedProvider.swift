private import Bytes
private import Host
private import JOSE
internal import JSON
private import OpenSSL

/// A kind of OpenID Provider for development.
package enum DevProviderKind: String, Sendable, CaseIterable {
    /// Like Apple: tokens that live 24 hours, booleans as strings, a relay address, the nonce unchanged.
    case apple
    /// Like Google and most others.
    case google
}

/// One development provider with its signing keys.
struct SimulatedProvider {
    let kind: DevProviderKind
    let issuer: String
    let audience: String
    private var key: SigningKey
    private var keyID: String
    /// The public parts of the current and the previous key, as JWKs.
    private var publicKeys: [JSONTree] = []

    /// - Throws: ``OpenSSLError`` if no key can be generated.
    init(_ kind: DevProviderKind, issuer: String, audience: String) throws {
        self.kind = kind
        self.issuer = issuer
        self.audience = audience
        key = try SigningKey(generating: .rsa(modulusLength: 256))
        keyID = ""
        try adopt(key)
    }

    /// Signs with a new key from now on. The previous one stays published, as with real providers.
    mutating func rotate() throws {
        try adopt(SigningKey(generating: .rsa(modulusLength: 256)))
    }

    private mutating func adopt(_ newKey: SigningKey) throws {
        key = newKey
        keyID = text(Base64URL.encode(try randomBytes(6)))
        var members: [String: JSONTree] = [
            "kty": .string("RSA"), "use": .string("sig"), "alg": .string("RS256"), "kid": .string(keyID),
        ]
        for (name, octets) in try key.publicComponents() { members[name] = .string(text(Base64URL.encode(octets))) }
        publicKeys = [.object(members)] + publicKeys.prefix(1)
    }

    var discoveryDocument: JSONTree {
        .object([
            "issuer": .string(issuer), "jwks_uri": .string(issuer + "/keys"),
            "token_endpoint": .string(issuer + "/token"), "authorization_endpoint": .string(issuer + "/authorize"),
            "response_types_supported": .array([.string("code")]),
            "subject_types_supported": .array([.string("pairwise")]),
            "id_token_signing_alg_values_supported": .array([.string("RS256")]),
        ])
    }

    var keySet: JSONTree { .object(["keys": .array(publicKeys)]) }

    /// Signs an ID Token for a raw nonce, with the claims of its kind. The caller's claims override these; `null`
    /// removes a claim.
    func token(nonce: String, overriding claims: [String: JSONTree], now: Int64) throws -> String {
        var all = try usualClaims(nonce: nonce, now: now)
        for (name, value) in claims { all[name] = value == .null ? nil : value }
        var header: [String: JSONTree] = ["alg": .string("RS256"), "kid": .string(keyID)]
        // Apple's headers have no `typ`.
        if kind == .google { header["typ"] = .string("JWT") }
        return text(
            try JWSSigner(key).compactJWS(header: json(.object(header)), payload: json(.object(all))))
    }

    private func usualClaims(nonce: String, now: Int64) throws -> [String: JSONTree] {
        let hash = try DigestContext().digest(Array(nonce.utf8).span, with: .sha256)
        let common: [String: JSONTree] = [
            "iss": .string(issuer), "aud": .string(audience), "iat": .integer(now), "auth_time": .integer(now),
        ]
        let own: [String: JSONTree] =
            switch kind {
            case .apple:
                [
                    "exp": .integer(now + 86400), "sub": .string("001234.5f0c1e0f4b6d4c7f9a3b2d1e0c9f8a7b.0219"),
                    // The app sends Apple the hash of the raw nonce, and Apple puts that into the token.
                    "nonce": .string(String(hexadecimal: hash.span)),
                    "nonce_supported": .bool(true), "email": .string("dpdcnf87nu@privaterelay.appleid.com"),
                    "email_verified": .string("true"), "is_private_email": .string("true"),
                    "real_user_status": .integer(2),
                ]
            case .google:
                [
                    "exp": .integer(now + 3600), "sub": .string("110248495921238986420"), "azp": .string(audience),
                    "nonce": .string(nonce), "email": .string("kim@example.com"), "email_verified": .bool(true),
                    "hd": .string("example.com"), "name": .string("Kim Example"), "given_name": .string("Kim"),
                    "family_name": .string("Example"), "locale": .string("en"),
                ]
            }
        return common.merging(own) { _, own in own }
    }

    private func json(_ tree: JSONTree) -> [UInt8] {
        var json = JSONWriter()
        json.value(tree)
        return json.bytes
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
