internal import JOSE
package import OpenSSL

/// Checks that the ID Token was issued for this sign-in, and returns how its `nonce` matched.
///
/// If only the request or only the token has a nonce, the token is rejected: it was issued for another sign-in, or the
/// client lost its nonce. Compared in constant time.
///
/// - Returns: `nil` if there is no nonce, or if the provider's rule turns the check off.
/// - Throws: ``Rejection/nonceRequired``, ``Rejection/nonceMissing``, ``Rejection/nonceMismatch``,
///   ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 11, and 15.5.2.
package func checkNonce(
    _ claims: Claims, _ rule: NonceRule, expected: String?, _ checker: SignatureChecker
) throws(Rejection) -> NonceMatch? {
    guard rule.isChecked else { return nil }
    let claimed = try claims.utf8(.nonce)
    guard let expected else {
        guard claimed == nil, !rule.isRequired else { throw .nonceRequired }
        return nil
    }
    guard let claimed else { throw .nonceMissing }
    for match in rule.accepted where try matchesNonce(claimed.span, for: expected.utf8.span, match, checker) {
        return match
    }
    throw .nonceMismatch
}

/// The same, for a token whose nonce may not need to be compared. It is a separate function, so that other tokens don't
/// pay for the choice.
///
/// - Returns: `nil` also if `use` turns the check off.
@inline(__always)
func checkNonce(
    _ claims: Claims, _ rule: NonceRule, expected: String?, _ checker: SignatureChecker, use: NonceUse
) throws(Rejection) -> NonceMatch? {
    switch use {
    case .compare: return try checkNonce(claims, rule, expected: expected, checker)
    case .compareIfPresent:
        guard rule.isChecked, try claims.utf8(.nonce) != nil else { return nil }
        return try checkNonce(claims, rule, expected: expected, checker)
    case .ignoreFromTokenEndpoint, .ignoreFromClient: return nil
    }
}

/// Whether a `nonce` claim matches a raw nonce.
///
/// - Throws: ``Rejection/cryptographyUnavailable``.
package func matchesNonce(
    _ claimed: Span<UInt8>, for raw: Span<UInt8>, _ match: NonceMatch, _ checker: SignatureChecker
) throws(Rejection) -> Bool {
    switch match {
    case .plain: constantTimeEquals(raw, claimed)
    case .sha256Hex:
        try checker.withHash(of: raw, .sha256) { constantTimeEquals(claimed, hexadecimalOf: $0) }
    case .sha256Base64URL:
        try checker.withHash(of: raw, .sha256) { constantTimeEquals(Base64URL.encode($0).span, claimed) }
    }
}

/// Whether a claim equals the base64url encoding of the left half of the hash of `value`.
///
/// - Throws: ``Rejection/cryptographyUnavailable``.
package func halfHash(
    of value: String, by digest: DigestAlgorithm, _ checker: SignatureChecker, equals claimed: ArraySlice<UInt8>
) throws(Rejection) -> Bool {
    try checker.withHash(of: value.utf8.span, digest) { hash in
        constantTimeEquals(Base64URL.encode(hash.extracting(..<(hash.count / 2))).span, claimed.span)
    }
}

extension SignatureChecker {
    /// Calls a closure with the digest of `bytes`.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable``.
    package func withHash<Result>(
        of bytes: Span<UInt8>, _ algorithm: DigestAlgorithm, _ body: (Span<UInt8>) -> Result
    ) throws(Rejection) -> Result {
        do throws(OpenSSLError) {
            return try withDigest(of: bytes, algorithm, body)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}

/// Checks that the ID Token was issued with this access token or code, whose half hash is in a claim.
/// Compared in constant time.
///
/// - Parameters:
///   - value: `nil` if the caller has none.
///   - isOptional: whether a token without the claim passes.
///   - digest: the hash function of the token's algorithm.
/// - Throws: one of `faults`, ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.8 and 3.2.2.9 for `at_hash`, 3.3.2.10 and 3.3.2.11 for `c_hash`.
@inline(__always)
func checkHash(
    in claim: ClaimName, _ claims: Claims, of value: String?, isOptional: Bool, by digest: DigestAlgorithm,
    _ checker: SignatureChecker, faults: (missing: Rejection, mismatch: Rejection)
) throws(Rejection) {
    guard let value else { return }
    guard let claimed = try claims.utf8(claim) else {
        if isOptional { return }
        throw faults.missing
    }
    guard try halfHash(of: value, by: digest, checker, equals: claimed) else { throw faults.mismatch }
}
