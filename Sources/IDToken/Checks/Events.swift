/// Checks that the token is no notification and no logout token: they are signed with the same keys as ID Tokens, addressed
/// to the same audience, and have `events`.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: RFC 8725, section 3.12; OpenID Connect Back-Channel Logout 1.0, 2.4.
func checkNoEvents(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.events) else { throw .claimInvalid(.events) }
}
