private import JOSE
private import OpenSSL

/// The codes and tokens that a development provider has issued. Knows no clock and no HTTP.
struct IssuedGrants {
    private var codes: [String: Authorization] = [:]
    private var refreshTokens: [String: Authorization] = [:]
    private var accessTokens: Set<String> = []
    private var revoked: Set<String> = []
    /// Whether the user has used the app before. Apple sends the name only at the first time.
    private(set) var isKnown = false

    /// Codes live for five minutes, as Apple's.
    static let codeLifetimeSeconds: Int64 = 300
    /// The most that is remembered of each kind.
    private static let capacity = 10_000

    /// What the user has allowed.
    struct Authorization {
        let clientID: String
        /// `nil` for a native app's.
        var redirectURI: String?
        /// The `nonce` claim, if there is one.
        var nonce: String?
        /// PKCE's challenge; its method is S256.
        var challenge: String?
        var expiresAt: Int64
    }

    /// What a token endpoint grants.
    struct Tokens {
        let accessToken: String
        /// `nil` if the refresh token that was sent stays.
        var refreshToken: String?
        let authorization: Authorization
    }

    /// - Throws: ``OpenSSLError``.
    mutating func code(for authorization: Authorization) throws -> String {
        isKnown = true
        let code = try Self.random()
        if codes.count >= Self.capacity { codes.removeAll() }
        codes[code] = authorization
        return code
    }

    /// Exchanges a code, once.
    ///
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func exchange(
        _ code: String, clientID: String, redirectURI: String?, verifier: String?, now: Int64
    ) throws -> Tokens {
        guard let authorization = codes[code], authorization.clientID == clientID else {
            throw DevOAuthError.invalidGrant
        }
        codes[code] = nil
        guard now < authorization.expiresAt, authorization.redirectURI == redirectURI,
            try authorization.accepts(verifier)
        else { throw DevOAuthError.invalidGrant }
        let refreshToken = try Self.random()
        if refreshTokens.count >= Self.capacity { refreshTokens.removeAll() }
        refreshTokens[refreshToken] = authorization
        return Tokens(accessToken: try access(), refreshToken: refreshToken, authorization: authorization)
    }

    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func refresh(_ token: String, clientID: String, whenRevoked: DevOAuthError) throws -> Tokens {
        guard !revoked.contains(token) else { throw whenRevoked }
        guard let authorization = refreshTokens[token], authorization.clientID == clientID else {
            throw DevOAuthError.invalidGrant
        }
        return Tokens(accessToken: try access(), refreshToken: nil, authorization: authorization)
    }

    /// Revokes a token. One that is unknown is as good as revoked (RFC 7009, section 2.2).
    mutating func revoke(_ token: String) {
        if refreshTokens.removeValue(forKey: token) != nil {
            if revoked.count >= Self.capacity { revoked.removeAll() }
            revoked.insert(token)
            isKnown = false
        }
        accessTokens.remove(token)
    }

    func isAccessToken(_ token: String) -> Bool { accessTokens.contains(token) }

    private mutating func access() throws -> String {
        if accessTokens.count >= Self.capacity { accessTokens.removeAll() }
        let token = try Self.random()
        accessTokens.insert(token)
        return token
    }

    private static func random() throws -> String {
        String(decoding: Base64URL.encode(try randomBytes(24)), as: UTF8.self)
    }
}

extension IssuedGrants.Authorization {
    /// Whether a code verifier fits the challenge (RFC 7636, section 4.6).
    fileprivate func accepts(_ verifier: String?) throws -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier else { return false }
        let hash = try DigestContext().digest(Array(verifier.utf8).span, with: .sha256)
        return String(decoding: Base64URL.encode(hash), as: UTF8.self) == challenge
    }
}

/// An error of OAuth 2.0 (RFC 6749, sections 4.1.2.1 and 5.2).
enum DevOAuthError: String, Error {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
}
