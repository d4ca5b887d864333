internal import IDToken
internal import JOSE

/// Checks the JOSE header's `typ`.
///
/// RFC 9068 requires `at+jwt` or `application/at+jwt`, in any letter case. Other dialects also allow `JWT`, or no
/// `typ`.
///
/// - Throws: ``Rejection/headerUnsupported``.
/// - Source: RFC 9068, section 4, step 1; RFC 7515, section 4.1.9.
func checkAccessTokenType(_ header: JOSEHeader, _ dialect: AccessTokenDialect) throws(Rejection) {
    switch header.type?.lowercased() {
    case "at+jwt", "application/at+jwt": return
    default: if dialect.declaresType { throw .headerUnsupported }
    }
    try checkTokenType(header)
}

/// Checks that the token is neither an ID Token nor a notification, which are signed with the same keys.
///
/// Runs before all other checks of claims except the issuer's, so that a rejection says which kind of token was sent.
/// The policy's own rules compare the values of claims that distinguish the kinds.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, which names a claim that access tokens don't have.
/// - Source: RFC 8725, section 3.12.
func checkIsAccessToken(_ claims: Claims, _ dialect: AccessTokenDialect) throws(Rejection) {
    for claim in dialect.idTokenClaims where claims.contains(claim) { throw .claimInvalid(claim) }
    try checkNoEvents(claims)
}
