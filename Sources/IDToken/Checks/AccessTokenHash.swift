internal import OpenSSL

/// Checks that the ID Token was issued with this access token: the token's `at_hash` must match.
/// Compared in constant time.
///
/// - Parameters:
///   - accessToken: `nil` if the caller has none.
///   - isOptional: whether a token without `at_hash` passes.
///   - digest: the hash function of the token's algorithm.
/// - Throws: ``Rejection/atHashMissing``, ``Rejection/atHashMismatch``, ``Rejection/claimInvalid(_:)``,
///   ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.8 and 3.2.2.9.
func checkAccessTokenHash(
    _ claims: Claims, of accessToken: String?, isOptional: Bool, by digest: DigestAlgorithm, _ checker: SignatureChecker
) throws(Rejection) {
    guard let accessToken else { return }
    guard let claimed = try claims.utf8(.accessTokenHash) else {
        if isOptional { return }
        throw .atHashMissing
    }
    guard try halfHash(of: accessToken, by: digest, checker, equals: claimed) else { throw .atHashMismatch }
}
