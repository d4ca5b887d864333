internal import JOSE
private import OpenSSL

/// The codes and tokens that a development provider has issued. Uses neither a clock nor HTTP.
struct IssuedGrants {
    private var codes: [String: Authorization] = [:]
    private var refreshTokens: [String: Authorization] = [:]
    private var accessTokens: [String: Authorization] = [:]
    private var opaqueTokens: [String: OpaqueToken] = [:]
    private var revoked: Set<String> = []
    /// Which people have used which client before. Apple sends the name only the first time.
    private var known: Set<[String]> = []

    /// Codes live for five minutes, as Apple's do.
    static let codeLifetimeSeconds: Int64 = 300
    /// The maximum number of entries of each kind.
    fileprivate static let capacity = 10_000

    /// The authorization that a person gave a client.
    struct Authorization {
        let person: Person
        let clientID: String
        /// `nil` for a native app's.
        var redirectURI: String?
        /// The `nonce` claim, if there is one.
        var nonce: String?
        /// PKCE's challenge; its method is S256.
        var challenge: String?
        var scopes: [String] = []
        /// The API that the access token is for (RFC 8707).
        var resource: String?
        /// The claim `acr`.
        var acr: String?
        /// The thumbprint of the key that the client must prove when it exchanges the code (`dpop_jkt`).
        var announcedKey: String?
        /// The thumbprint of the key that the access token is bound to; `nil`: to none.
        var boundKey: String?
        let authenticatedAt: Int64
        var expiresAt: Int64
    }

    /// What is said of an access token to those who ask.
    struct OpaqueToken {
        let claims: [String: JSONTree]
        let person: Person
        let clientID: String
    }

    /// The tokens that a token endpoint issues.
    struct Tokens {
        let accessToken: String
        /// `nil` if the refresh token in the request stays valid.
        var refreshToken: String?
        let authorization: Authorization
    }

    /// Whether this is the person's first sign-in to the client. Records the sign-in.
    mutating func isFirst(_ person: Person, clientID: String) -> Bool {
        if known.count >= Self.capacity { known.removeAll() }
        return known.insert([person.id, clientID]).inserted
    }

    /// - Throws: ``OpenSSLError``.
    mutating func code(for authorization: Authorization) throws -> String { try Self.issue(authorization, in: &codes) }

    /// Exchanges a code, once.
    ///
    /// - Parameter boundKey: the thumbprint of the key that the client has proven; `nil`: none.
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func exchange(
        _ code: String, clientID: String, redirectURI: String?, verifier: String?, boundKey: String? = nil, now: Int64
    ) throws -> Tokens {
        guard var authorization = codes[code], authorization.clientID == clientID else {
            throw DevOAuthError.invalidGrant
        }
        codes[code] = nil
        // RFC 9449, section 10.
        guard now < authorization.expiresAt, authorization.redirectURI == redirectURI,
            try authorization.accepts(verifier),
            authorization.announcedKey == nil || authorization.announcedKey == boundKey
        else { throw DevOAuthError.invalidGrant }
        authorization.boundKey = boundKey
        return Tokens(
            accessToken: try Self.issue(authorization, in: &accessTokens),
            refreshToken: try Self.issue(authorization, in: &refreshTokens), authorization: authorization)
    }

    /// - Parameters:
    ///   - rotates: whether the refresh token is used up, and another is issued.
    ///   - boundKey: the thumbprint of the key that the client has proven; `nil`: none.
    ///   - whenRevoked: the error for a token that was revoked.
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func refresh(
        _ token: String, clientID: String, rotates: Bool, boundKey: String? = nil, whenRevoked: DevOAuthError
    ) throws -> Tokens {
        guard !revoked.contains(token) else { throw whenRevoked }
        guard var authorization = refreshTokens[token], authorization.clientID == clientID else {
            throw DevOAuthError.invalidGrant
        }
        if rotates { refreshTokens[token] = nil }
        authorization.boundKey = boundKey
        return Tokens(
            accessToken: try Self.issue(authorization, in: &accessTokens),
            refreshToken: rotates ? try Self.issue(authorization, in: &refreshTokens) : nil,
            authorization: authorization)
    }

    /// Revokes a token. An unknown token counts as revoked (RFC 7009, section 2.2).
    mutating func revoke(_ token: String) {
        if let authorization = refreshTokens[token] { withdraw(authorization.person.id, authorization.clientID) }
        accessTokens[token] = nil
        opaqueTokens[token] = nil
    }

    /// Revokes a person's authorizations, as if they had removed the app from their account.
    ///
    /// - Parameter clientID: only for this client; `nil`: for all.
    mutating func withdraw(_ person: String, _ clientID: String? = nil) {
        func isOfBoth(_ other: Person, _ otherClientID: String) -> Bool {
            other.id == person && (clientID == nil || otherClientID == clientID)
        }
        func isTheirs(_ authorization: Authorization) -> Bool {
            isOfBoth(authorization.person, authorization.clientID)
        }
        let ended = refreshTokens.filter { isTheirs($0.value) }.keys
        if revoked.count >= Self.capacity { revoked.removeAll() }
        revoked.formUnion(ended)
        for token in ended { refreshTokens[token] = nil }
        accessTokens = accessTokens.filter { !isTheirs($0.value) }
        opaqueTokens = opaqueTokens.filter { !isOfBoth($0.value.person, $0.value.clientID) }
        codes = codes.filter { !isTheirs($0.value) }
        known = known.filter { $0.first != person || (clientID != nil && $0.last != clientID) }
    }

    func authorization(ofAccessToken token: String) -> Authorization? { accessTokens[token] }

    mutating func keep(_ token: OpaqueToken, as text: String) { opaqueTokens.keep(token, as: text) }

    /// `nil` for a token that was never issued, or that has been revoked.
    func opaqueToken(_ text: String) -> OpaqueToken? { opaqueTokens[text] }

    private static func issue(
        _ authorization: Authorization, in table: inout [String: Authorization]
    ) throws -> String {
        let name = try randomName()
        table.keep(authorization, as: name)
        return name
    }
}

extension Dictionary {
    /// Adds an entry to a table that clients can fill: it is emptied when it is full.
    mutating func keep(_ value: Value, as key: Key, capacity: Int = IssuedGrants.capacity) {
        if count >= capacity { removeAll() }
        self[key] = value
    }
}

extension String {
    init(base64URL octets: [UInt8]) { self.init(decoding: Base64URL.encode(octets), as: UTF8.self) }
}

/// 144 random bits as base64url.
///
/// - Throws: ``OpenSSLError``.
func randomName() throws -> String { String(base64URL: try randomBytes(18)) }

/// The SHA-256 of a text.
///
/// - Throws: ``OpenSSLError``.
func sha256(_ text: String) throws -> [UInt8] { try DigestContext().digest(text.utf8.span, with: .sha256) }

extension IssuedGrants.Authorization {
    /// Whether a code verifier matches the challenge (RFC 7636, section 4.6).
    fileprivate func accepts(_ verifier: String?) throws -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier else { return false }
        return String(base64URL: try sha256(verifier)) == challenge
    }
}

/// An error of OAuth 2.0 or OpenID Connect (RFC 6749, sections 4.1.2.1 and 5.2), or of an extension.
enum DevOAuthError: String, Error {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unsupportedGrantType = "unsupported_grant_type"
    /// RFC 8707, section 2.
    case invalidTarget = "invalid_target"
    /// RFC 7591, section 3.2.2.
    case invalidRedirectURI = "invalid_redirect_uri"
    /// RFC 9449, section 5.
    case invalidProof = "invalid_dpop_proof"
    /// RFC 9449, section 8.
    case proofNonceNeeded = "use_dpop_nonce"
}
