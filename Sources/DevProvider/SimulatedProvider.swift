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
    var grants = IssuedGrants()

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
        var members: [String: JSONTree] = [
            "issuer": .string(issuer), "jwks_uri": .string(issuer + "/keys"),
            "token_endpoint": .string(issuer + "/token"), "authorization_endpoint": .string(issuer + "/authorize"),
            "revocation_endpoint": .string(issuer + "/revoke"),
            "response_types_supported": list("code", "code id_token"),
            "response_modes_supported": list("query", "form_post"),
            "subject_types_supported": list("pairwise"),
            "id_token_signing_alg_values_supported": list("RS256"),
            "code_challenge_methods_supported": list("S256"),
            "token_endpoint_auth_methods_supported": kind == .apple
                ? list("client_secret_post") : list("client_secret_basic", "client_secret_post"),
        ]
        if kind == .google {
            members["userinfo_endpoint"] = .string(issuer + "/userinfo")
            members["authorization_response_iss_parameter_supported"] = .bool(true)
            members["backchannel_logout_supported"] = .bool(true)
        }
        return .object(members)
    }

    private func list(_ texts: String...) -> JSONTree { .array(texts.map(JSONTree.string)) }

    /// The user's `sub`.
    var subject: String {
        switch kind {
        case .apple: "001234.5f0c1e0f4b6d4c7f9a3b2d1e0c9f8a7b.0219"
        case .google: "110248495921238986420"
        }
    }

    var keySet: JSONTree { .object(["keys": .array(publicKeys)]) }

    /// Signs an ID Token for a raw nonce, with the claims of its kind. The caller's claims override these; `null`
    /// removes a claim.
    func token(nonce: String, overriding claims: [String: JSONTree], now: Int64) throws -> String {
        var all = try usualClaims(nonce: nonce, now: now)
        for (name, value) in claims { all[name] = value == .null ? nil : value }
        // Apple's headers have no `typ`.
        return try sign(all, type: kind == .google ? "JWT" : nil)
    }

    /// Signs claims with the current key.
    ///
    /// - Parameter type: `typ`.
    func sign(_ claims: [String: JSONTree], type: String?) throws -> String {
        var header: [String: JSONTree] = ["alg": .string("RS256"), "kid": .string(keyID)]
        if let type { header["typ"] = .string(type) }
        return text(
            try JWSSigner(key).compactJWS(header: json(.object(header)), payload: json(.object(claims))))
    }

    /// The claims about the user that are the same in each token.
    var userClaims: [String: JSONTree] {
        switch kind {
        case .apple:
            [
                "sub": .string(subject), "email": .string("dpdcnf87nu@privaterelay.appleid.com"),
                "email_verified": .string("true"), "is_private_email": .string("true"),
            ]
        case .google:
            [
                "sub": .string(subject), "email": .string("kim@example.com"), "email_verified": .bool(true),
                "hd": .string("example.com"), "name": .string("Kim Example"), "given_name": .string("Kim"),
                "family_name": .string("Example"), "locale": .string("en"),
            ]
        }
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
                    "exp": .integer(now + 86400),
                    // The app sends Apple the hash of the raw nonce, and Apple puts that into the token.
                    "nonce": .string(String(hexadecimal: hash.span)),
                    "nonce_supported": .bool(true), "real_user_status": .integer(2),
                ]
            case .google:
                ["exp": .integer(now + 3600), "azp": .string(audience), "nonce": .string(nonce)]
            }
        return common.merging(userClaims) { _, own in own }.merging(own) { _, own in own }
    }

    func json(_ tree: JSONTree) -> [UInt8] {
        var json = JSONWriter()
        json.value(tree)
        return json.bytes
    }

    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
