/// Checks that a token without a nonce is not an access token.
///
/// Some providers sign JWT access tokens with the keys of their ID Tokens, for the client's own audience, and without a `typ`
/// that says so. Any API that receives such a token could present it as a sign-in. A nonce rules that out; without one, only
/// the token's claims can tell.
///
/// - Parameter nonceMatch: how the nonce matched; `nil` where none was compared.
/// - Throws: ``Rejection/claimInvalid(_:)``, which names the claim of an access token.
/// - Source: RFC 9068, section 2.2; RFC 8725, section 3.12.
func checkTokenKind(
    _ claims: Claims, _ policy: borrowing ProviderPolicy, nonceMatch: NonceMatch?
) throws(Rejection) {
    guard nonceMatch == nil, policy.refusesAccessTokens, !claims.has(.nonce) else { return }
    try checkNoAccessToken(claims)
}

/// Checks that a token with a claim of access tokens also has one that only ID Tokens have.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
func checkNoAccessToken(_ claims: Claims) throws(Rejection) {
    guard let claim = TokenKind.accessTokenClaims.first(where: claims.mentions),
        !TokenKind.idTokenClaims.contains(where: claims.has)
    else { return }
    throw .claimInvalid(claim)
}

/// The claims that tell ID Tokens and access tokens apart.
package enum TokenKind {
    /// Claims of access tokens, which few ID Tokens have.
    static let accessTokenClaims: [ClaimName] = [.scope, .shortScope, .clientID]
    /// Claims of ID Tokens that access tokens usually lack (OpenID Connect Core 1.0, sections 2 and 3.3.2.11).
    package static let idTokenClaims: [ClaimName] = [.accessTokenHash, .codeHash, .authTime, .sessionID]
}
