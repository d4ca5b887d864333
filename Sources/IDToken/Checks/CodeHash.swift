internal import OpenSSL

/// Checks that the ID Token was issued with this authorization code: the token's `c_hash` must match.
/// Compared in constant time.
///
/// - Parameters:
///   - code: `nil` if the caller has none.
///   - isOptional: whether a token without the claim passes.
///   - digest: the hash function of the token's algorithm.
/// - Throws: ``Rejection/cHashMissing``, ``Rejection/cHashMismatch``, ``Rejection/claimInvalid(_:)``,
///   ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.3.2.10 and 3.3.2.11.
func checkCodeHash(
    _ claims: Claims, of code: String?, isOptional: Bool, by digest: DigestAlgorithm, _ checker: SignatureChecker
) throws(Rejection) {
    guard let code else { return }
    guard let claimed = try claims.utf8(.codeHash) else {
        if isOptional { return }
        throw .cHashMissing
    }
    guard try halfHash(of: code, by: digest, checker, equals: claimed) else { throw .cHashMismatch }
}
