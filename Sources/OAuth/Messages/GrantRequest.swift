private import JOSE
package import OpenSSL

/// A request to a token endpoint, without client authentication.
package enum GrantRequest: Sendable {
    /// - Parameter resources: what the access token is for (RFC 8707).
    case code(AuthorizationCode, redirectURI: String?, verifier: CodeVerifier?, resources: [String] = [])
    case refresh(RefreshToken, scopes: [String])
    /// For the client itself, not for a user.
    case clientCredentials(scope: String)
}

/// A request to a revocation endpoint (RFC 7009), without client authentication.
package struct RevocationRequest: Sendable {
    let token: RevocableToken
    let hint: TokenHint?

    package init(_ token: RevocableToken, hint: TokenHint?) {
        self.token = token
        self.hint = hint
    }

    package init(_ token: RefreshToken) { self.init(RevocableToken(token), hint: .refreshToken) }
    package init(_ token: AccessToken) { self.init(RevocableToken(token), hint: .accessToken) }
}

/// A question about an access token (RFC 7662, section 2.1), without client authentication.
package struct IntrospectionRequest: Sendable {
    let token: AccessToken

    package init(_ token: AccessToken) { self.token = token }
}

/// A registered `token_type_hint`.
package enum TokenHint: String, Sendable, CaseIterable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
}

/// A request to a UserInfo endpoint (OpenID Connect Core 1.0, section 5.3.1).
package struct UserInfoRequest: Sendable {
    let accessToken: AccessToken
    /// The key that the token is bound to; `nil` for a bearer token.
    let proofKey: ProofKey?
    /// Whether the token is bound to the client's certificate, which the connection then presents.
    let isOfCertificate: Bool

    package init(_ accessToken: AccessToken, provenBy proofKey: ProofKey? = nil, isOfCertificate: Bool = false) {
        self.accessToken = accessToken
        self.proofKey = proofKey
        self.isOfCertificate = isOfCertificate
    }

    /// The value of `Authorization`.
    package var authorization: String { (proofKey == nil ? "Bearer " : "DPoP ") + accessToken.text }

    /// - Throws: ``OpenSSLError`` when out of memory.
    package func secrets() throws(OpenSSLError) -> SentSecrets {
        SentSecrets([try SecretBytes(accessToken.text.utf8.span)])
    }
}

/// The code verifier of PKCE (RFC 7636): 32 random octets, whose base64url is sent to the token endpoint.
package struct CodeVerifier: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package static let length = 32
    package let octets: [UInt8]

    /// - Returns: `nil` unless there are ``length`` octets.
    package init?(_ octets: [UInt8]) {
        guard octets.count == Self.length else { return nil }
        self.octets = octets
    }

    /// A new random code verifier.
    ///
    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    package static func random() throws(OpenSSLError) -> CodeVerifier {
        CodeVerifier(unchecked: try randomBytes(length))
    }

    private init(unchecked octets: [UInt8]) { self.octets = octets }

    /// The `code_verifier`: 43 characters.
    var text: [UInt8] { Base64URL.encode(octets) }

    /// The `code_challenge` of the method `S256`.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func challenge(_ digests: borrowing DigestContext) throws(OpenSSLError) -> String {
        String(decoding: Base64URL.encode(try digests.digest(text.span, with: .sha256)), as: UTF8.self)
    }

    package var description: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
