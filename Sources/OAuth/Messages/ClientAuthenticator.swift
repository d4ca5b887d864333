private import Bytes
internal import HTTP
package import IDToken
internal import JOSE
package import OpenSSL

/// A form with client authentication, which is sent at most once.
///
/// Only ``ClientAuthenticator`` creates one.
package struct AuthenticatedRequest: ~Copyable, Sendable {
    private let body: SecretBytes
    /// The value of `Authorization`; `nil` if the client authenticates in the body, or not at all.
    private let authorization: SecretBytes?
    package let secrets: SentSecrets

    fileprivate init(body: SecretBytes, authorization: SecretBytes?, secrets: SentSecrets) {
        self.body = body
        self.authorization = authorization
        self.secrets = secrets
    }

    /// Calls `write` once, with the body and the value of `Authorization`.
    package consuming func send<Result>(_ write: (_ body: [UInt8], _ authorization: String?) -> Result) -> Result {
        let authorization = authorization.map { secret in
            secret.withBytes { octets in String(decoding: octets.indices.map { octets[$0] }, as: UTF8.self) }
        }
        var copy = body.withBytes { octets in octets.indices.map { octets[$0] } }
        defer { wipe(&copy) }
        return write(copy, authorization)
    }
}

/// Authenticates the requests of one client, by the configured method unless the endpoint does not accept it. Confined
/// to one thread. It throws if OpenSSL fails, has no memory, or if there is no such key.
package struct ClientAuthenticator {
    private let clientID: String
    private let credential: ClientCredential
    private var appleSecret = AppleClientSecretCache()

    package init(clientID: String, _ credential: ClientCredential) {
        self.clientID = clientID
        self.credential = credential
    }

    package mutating func authenticate(
        _ request: GrantRequest, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = Form()
        switch request {
        case .code(let code, let redirectURI, let verifier, let resources):
            form.add("grant_type", "authorization_code")
            try form.add("code", code)
            if let redirectURI { form.add("redirect_uri", redirectURI) }
            if let verifier { form.add("code_verifier", try SecretBytes(verifier.text.span)) }
            for resource in resources { form.add("resource", resource) }
        case .refresh(let token, let scopes):
            form.add("grant_type", "refresh_token")
            try form.add("refresh_token", token)
            if !scopes.isEmpty { form.add("scope", scopes.joined(separator: " ")) }
        case .clientCredentials(let scope):
            form.add("grant_type", "client_credentials")
            form.add("scope", scope)
        }
        return try authenticate(form, by: credential, now: now)
    }

    /// What connections for the client's requests present; `nil` for none.
    var certificate: TLSIdentity? {
        if case .certificate(let certificate) = credential { certificate } else { nil }
    }

    /// Whether an endpoint with these methods gets the secret by another method than the configured one.
    func usesAnotherMethod(for methods: [String]?) -> Bool {
        credential.otherPlace(acceptedBy: methods) != nil
    }

    /// - Parameter methods: the endpoint's authentication methods; `nil` if they are not known.
    package mutating func authenticate(
        _ request: RevocationRequest, acceptedBy methods: [String]? = nil, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = Form()
        try form.add("token", request.token)
        if let hint = request.hint { form.add("token_type_hint", hint.rawValue) }
        return try authenticate(form, by: credential.accepted(by: methods), now: now)
    }

    /// A question about an access token (RFC 7662, section 2.1).
    package mutating func authenticate(
        askingAbout token: AccessToken, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = Form()
        try form.add("token", token)
        form.add("token_type_hint", TokenHint.accessToken.rawValue)
        return try authenticate(form, by: credential, now: now)
    }

    package mutating func authenticate(
        _ request: PushedAuthorization, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = Form()
        // `client_id` is required, even if HTTP Basic names the client too (RFC 9126, section 2.1).
        if case .secret(_, .basic) = credential { form.add("client_id", clientID) }
        switch request {
        case .parameters(let parameters):
            form.parameters = parameters
            form.confidential = parameters.confidential
        case .object(let object, let parameters):
            form.add("request", try SecretBytes(object.span))
            form.confidential = parameters.confidential
        }
        return try authenticate(form, by: credential, now: now)
    }

    /// The client's own key, which also signs its authorization requests; `nil` if it has none.
    var requestKey: ClientSigningKey? {
        switch credential {
        case .key(let key, _, _): key
        case .ownKey(let keys, let id, _): keys.signing(id)
        case .secret, .apple, .certificate, .none: nil
        }
    }

    /// - Parameter accessToken: for the scope `user.migration`. Apple requires both the token and the client secret.
    package mutating func authenticate(
        _ request: UserMigrationRequest, with accessToken: AccessToken, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = Form()
        switch request {
        case .generate(let subject, let recipientTeamID):
            form.add("sub", subject)
            form.add("target", recipientTeamID)
        case .redeem(let transferSubject): form.add("transfer_sub", transferSubject)
        }
        let bearer = UserInfoRequest(accessToken).authorization
        return try authenticate(form, by: credential, bearer: SecretBytes(bearer.utf8.span), now: now)
    }

    /// - Parameter bearer: the value of `Authorization`, for a client that authenticates in the body.
    private mutating func authenticate(
        _ form: Form, by credential: ClientCredential, bearer: SecretBytes? = nil, now: UnixTime
    ) throws(OpenSSLError) -> AuthenticatedRequest {
        var form = form
        var authorization = bearer
        // A provider may repeat the secret itself, although it was sent in another encoding.
        var encoded: [SecretBytes] = []
        switch credential {
        case .secret(let secret, .basic):
            authorization = try basicAuthorization(secret)
            encoded = [secret]
        case .secret(let secret, .post):
            form.add("client_id", clientID)
            form.add("client_secret", secret)
        case .apple(let key):
            form.add("client_id", clientID)
            form.add("client_secret", try appleSecret.secret(key, clientID: clientID, now: now))
        case .key(let key, let thumbprint, let audience):
            try addAssertion(to: &form, by: key, thumbprint: thumbprint, audience: audience, now: now)
        case .ownKey(let keys, let id, let audience):
            // Settings that name a key which is not there are refused.
            guard let key = keys.signing(id) else { throw .unspecified }
            try addAssertion(to: &form, by: key, thumbprint: nil, audience: audience, now: now)
        case .certificate, .none: form.add("client_id", clientID)
        }
        return AuthenticatedRequest(
            body: try form.encoded(), authorization: authorization,
            secrets: SentSecrets(try form.secrets() + encoded + [authorization].compactMap(\.self)))
    }

    private func addAssertion(
        to form: inout Form, by key: ClientSigningKey, thumbprint: [UInt8]?, audience: String, now: UnixTime
    ) throws(OpenSSLError) {
        let assertion = try ClientAssertion.make(
            clientID: clientID, key, thumbprint: thumbprint, audience: audience, now: now)
        form.add("client_id", clientID)
        form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        form.add("client_assertion", try SecretBytes(assertion.span))
    }

    /// ID and secret are form-encoded first (RFC 6749, section 2.3.1).
    private func basicAuthorization(_ secret: SecretBytes) throws(OpenSSLError) -> SecretBytes {
        var pair = FormWriter(reservingCapacity: 3 * (clientID.utf8.count + secret.count) + 1)
        pair.addEncoded(clientID.utf8.span)
        pair.addRaw(UInt8(ascii: ":"))
        secret.withBytes { pair.addEncoded($0) }
        var octets = pair.take()
        defer { wipe(&octets) }
        var text: [UInt8] = []
        text.reserveCapacity(6 + Base64URL.standardLength(octets.count))
        text.append(contentsOf: "Basic ".utf8)
        defer { wipe(&text) }
        Base64URL.appendStandard(octets.span, to: &text)
        return try SecretBytes(text.span)
    }
}

/// The pairs of a form, before they are encoded.
private struct Form {
    private enum Value {
        case text(String)
        case secret(SecretBytes)
    }

    private var pairs: [(name: StaticString, value: Value)] = []
    /// Those of an authorization request.
    var parameters: AuthorizationParameters?
    /// What else a provider must not bring into the log.
    var confidential: [String] = []

    mutating func add(_ name: StaticString, _ text: String) { pairs.append((name, .text(text))) }
    mutating func add(_ name: StaticString, _ secret: SecretBytes) { pairs.append((name, .secret(secret))) }

    mutating func add<Purpose>(_ name: StaticString, _ secret: SecretText<Purpose>) throws(OpenSSLError) {
        add(name, try SecretBytes(secret.text.utf8.span))
    }

    /// - Throws: ``OpenSSLError`` when out of memory.
    func secrets() throws(OpenSSLError) -> [SecretBytes] {
        var secrets = pairs.compactMap { if case .secret(let secret) = $0.value { secret } else { nil } }
        for text in confidential where !text.isEmpty {
            secrets.append(try SecretBytes(text.utf8.span))
        }
        return secrets
    }

    func encoded() throws(OpenSSLError) -> SecretBytes {
        var capacity = pairs.reduce(0) { total, pair in
            let length =
                switch pair.value {
                case .text(let text): text.utf8.count
                case .secret(let secret): secret.count
                }
            return total + pair.name.utf8CodeUnitCount + 3 * length + 2
        }
        for parameter in parameters?.all ?? [] {
            capacity += 3 * (parameter.name.utf8.count + parameter.value.text.utf8.count) + 2
        }
        var form = FormWriter(reservingCapacity: capacity)
        for (name, value) in pairs {
            switch value {
            case .text(let text): form.add(name, text.utf8.span)
            case .secret(let secret): secret.withBytes { form.add(name, $0) }
            }
        }
        for (name, value) in parameters?.all ?? [] { form.add(name.utf8.span, value.text.utf8.span) }
        var octets = form.take()
        defer { wipe(&octets) }
        return try SecretBytes(octets.span)
    }
}

/// An assertion of `private_key_jwt` (RFC 7523; OpenID Connect Core 1.0, section 9).
enum ClientAssertion {
    private static let lifetimeSeconds: Int64 = 60

    /// A new assertion, for one request.
    ///
    /// - Parameters:
    ///   - thumbprint: the SHA-256 of the certificate in DER, for `x5t#S256`; `nil` for none.
    ///   - audience: the issuer, or the token endpoint for servers that require it.
    static func make(
        clientID: String, _ key: ClientSigningKey, thumbprint: [UInt8]?, audience: String, now: UnixTime
    ) throws(OpenSSLError) -> [UInt8] {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", key.signer.algorithm.rawValue)
        header.member("kid", key.id)
        // Explicit, so that no other JWT that the key signs can pass for an assertion.
        header.member("typ", "client-authentication+jwt")
        if let thumbprint {
            header.member("x5t#S256", String(decoding: Base64URL.encode(thumbprint), as: UTF8.self))
        }
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", clientID)
        claims.member("sub", clientID)
        claims.member("aud", audience)
        claims.member("iat", now.seconds)
        claims.member("exp", now.seconds + lifetimeSeconds)
        claims.member("jti", String(decoding: Base64URL.encode(try randomBytes(16)), as: UTF8.self))
        claims.endObject()
        return try key.signer.compactJWS(header: header.bytes, payload: claims.bytes)
    }
}

/// Caches one client's secret, and reuses it while it is fresh.
struct AppleClientSecretCache {
    private var latest: (secret: SecretBytes, from: UnixTime, until: UnixTime)?

    /// A secret is replaced when this much of its lifetime is left.
    private static let reserveSeconds: Int64 = 5 * 60

    mutating func secret(
        _ key: AppleClientKey, clientID: String, now: UnixTime
    ) throws(OpenSSLError) -> SecretBytes {
        // The clock may have been set back: then Apple would see an `iat` in the future.
        if let latest, (latest.from.seconds..<latest.until.seconds).contains(now.seconds) { return latest.secret }
        let lifetime = AppleClientKey.usualLifetimeSeconds
        var text = try key.secretOctets(for: clientID, now: now, lifetimeSeconds: lifetime)
        defer { wipe(&text) }
        let secret = try SecretBytes(text.span)
        let until = now.seconds + lifetime - Self.reserveSeconds
        latest = (secret, now, UnixTime(seconds: until))
        return secret
    }
}
