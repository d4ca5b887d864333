internal import JOSE
internal import OpenSSL

/// Checks that the ID Token was made for this very sign-in, and returns how its `nonce` matched.
///
/// A nonce in only one of request and token is always refused: the token was made for another sign-in, or by a flow that
/// forgot it. Compared in constant time.
///
/// - Returns: `nil` where there is no nonce, or the provider's rule says not to look.
/// - Throws: ``Rejection/nonceRequired``, ``Rejection/nonceMissing``, ``Rejection/nonceMismatch``,
///   ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 11, and 15.5.2.
func checkNonce(
    _ claims: Claims, _ rule: NonceRule, expected: String?, _ checker: SignatureChecker
) throws(Rejection) -> NonceMatch? {
    guard rule.isChecked else { return nil }
    let claimed = try claims.utf8(.nonce)
    guard let expected else {
        guard claimed == nil, !rule.isRequired else { throw .nonceRequired }
        return nil
    }
    guard let claimed else { throw .nonceMissing }
    let raw = Array(expected.utf8)
    for match in rule.accepted {
        let wanted = try claim(for: raw, match, checker)
        if constantTimeEquals(wanted.span, claimed.span) { return match }
    }
    throw .nonceMismatch
}

/// What the `nonce` claim is for a raw nonce.
private func claim(
    for raw: [UInt8], _ match: NonceMatch, _ checker: SignatureChecker
) throws(Rejection) -> [UInt8] {
    switch match {
    case .plain: raw
    case .sha256Hex: hexadecimal(try checker.hash(raw, with: .sha256))
    case .sha256Base64URL: Base64URL.encode(try checker.hash(raw, with: .sha256))
    }
}
