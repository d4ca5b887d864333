/// Checks that the token has no `events` claim. Security events and logout tokens have one; they are signed with the
/// same keys as ID Tokens and sent to the same audience.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: RFC 8725, section 3.12; OpenID Connect Back-Channel Logout 1.0, 2.4.
package func checkNoEvents(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.events) else { throw .claimInvalid(.events) }
}
