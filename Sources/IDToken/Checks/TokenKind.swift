/// Checks that a token without a nonce is not an access token.
///
/// Some providers sign JWT access tokens with the keys of their ID Tokens, for the client's own audience, and without a `typ`
/// that says so. Any API that receives such a token could present it as a sign-in. A nonce rules that out; without one, only
/// the token's claims can tell.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, which names the claim of an access token.
/// - Source: RFC 9068, section 2.2; RFC 8725, section 3.12.
func checkTokenKind(_ claims: Claims) throws(Rejection) {
    guard let claim = TokenKind.accessTokenClaims.first(where: claims.contains),
        !TokenKind.idTokenClaims.contains(where: claims.hasValue)
    else { return }
    throw .claimInvalid(claim)
}

extension ProviderPolicy {
    /// Whether a token may be an access token as far as its nonce tells: none was compared, and it has none.
    ///
    /// - Parameter nonce: the raw nonce of the sign-in.
    func detectsAccessTokens(_ claims: Claims, nonce: String?) -> Bool {
        refusesAccessTokens && !(self.nonce.isChecked && nonce != nil) && !claims.hasValue(.nonce)
    }
}

/// The claims that tell ID Tokens and access tokens apart.
package enum TokenKind {
    /// Claims of access tokens, which few ID Tokens have.
    package static let accessTokenClaims: [ClaimName] = [.scope, .shortScope, .clientID]
    /// Claims of ID Tokens that access tokens usually lack (OpenID Connect Core 1.0, sections 2 and 3.3.2.11).
    package static let idTokenClaims: [ClaimName] = [.accessTokenHash, .codeHash, .authTime, .sessionID]
}
