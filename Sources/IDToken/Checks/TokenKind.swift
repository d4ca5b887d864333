/// Checks that a token without a nonce is not an access token.
///
/// Some providers sign JWT access tokens with the keys of their ID Tokens, for the client's own audience, and without a
/// distinguishing `typ`. Any API that receives such a token could present it as a sign-in. A nonce prevents that.
/// Without one, only the token's claims can tell the difference.
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
    /// Whether the token could still be an access token: no nonce was compared, and the token has none.
    ///
    /// A token from a token endpoint needs no such check, because nobody else could have sent it.
    /// - Parameters:
    ///   - nonce: the raw nonce of the sign-in.
    ///   - use: says whether the token is from a token endpoint.
    func detectsAccessTokens(_ claims: Claims, nonce: String?, use: NonceUse) -> Bool {
        refusesAccessTokens && !(self.nonce.isChecked && nonce != nil) && !use.isFromTokenEndpoint
            && !claims.hasValue(.nonce)
    }
}

/// The claims that distinguish ID Tokens from access tokens.
package enum TokenKind {
    /// Claims of access tokens that few ID Tokens have.
    package static let accessTokenClaims: [ClaimName] = [.scope, .shortScope, .clientID]
    /// Claims of ID Tokens that access tokens usually lack (OpenID Connect Core 1.0, sections 2 and 3.3.2.11).
    package static let idTokenClaims: [ClaimName] = [.accessTokenHash, .codeHash, .authTime, .sessionID]
}
