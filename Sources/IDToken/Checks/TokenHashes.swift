internal import JOSE
internal import OpenSSL

/// Checks that the access token and the authorization code are those the ID Token was issued with.
///
/// Each only where the caller gives it: then its hash must be in the token and equal, compared in constant time.
///
/// - Parameter digest: the hash function of the token's algorithm.
/// - Throws: ``Rejection/atHashMissing``, ``Rejection/atHashMismatch``, ``Rejection/cHashMissing``,
///   ``Rejection/cHashMismatch``, ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.8, 3.2.2.9 and 3.3.2.11.
func checkTokenHashes(
    _ claims: Claims, by digest: DigestAlgorithm, accessToken: String?, code: String?, _ checker: SignatureChecker
) throws(Rejection) {
    if let accessToken {
        guard let claimed = try claims.utf8(.accessTokenHash) else { throw .atHashMissing }
        guard try halfHash(of: accessToken, by: digest, checker, equals: claimed) else { throw .atHashMismatch }
    }
    if let code {
        guard let claimed = try claims.utf8(.codeHash) else { throw .cHashMissing }
        guard try halfHash(of: code, by: digest, checker, equals: claimed) else { throw .cHashMismatch }
    }
}

/// Whether a claim is the base64url of the left half of the hash of `value`.
///
/// - Throws: ``Rejection/cryptographyUnavailable``.
func halfHash(
    of value: String, by digest: DigestAlgorithm, _ checker: SignatureChecker, equals claimed: ArraySlice<UInt8>
) throws(Rejection) -> Bool {
    try checker.withHash(of: value.utf8.span, digest) { hash in
        constantTimeEquals(Base64URL.encode(hash.extracting(..<(hash.count / 2))).span, claimed.span)
    }
}
