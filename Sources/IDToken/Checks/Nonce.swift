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
    case .sha256Hex: hexadecimal(try sha256(raw, checker))
    case .sha256Base64URL: Base64URL.encode(try sha256(raw, checker))
    }
}

private func sha256(_ bytes: [UInt8], _ checker: SignatureChecker) throws(Rejection) -> [UInt8] {
    do throws(OpenSSLError) {
        return try checker.digest(bytes.span, with: .sha256)
    } catch {
        throw .cryptographyUnavailable
    }
}

private func hexadecimal(_ octets: [UInt8]) -> [UInt8] {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    var text: [UInt8] = []
    text.reserveCapacity(octets.count * 2)
    for octet in octets {
        text.append(digit(octet >> 4))
        text.append(digit(octet & 15))
    }
    return text
}
