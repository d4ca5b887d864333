/// Checks the claims that must be there and the one that must not, and returns `sub`.
///
/// A subject has 1 to 255 characters (Unicode scalars), none of them a control character, not all of them spaces: it is
/// the key under which a user is stored. A token with `events` is a notification or a logout token, signed with the same
/// keys as ID Tokens and addressed to the same audience.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Core 1.0, section 2; RFC 8725, section 3.12; OpenID Connect Back-Channel Logout 1.0, 2.4.
func checkRequiredClaims(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String {
    guard let subject = try claims.string(.subject), !subject.isEmpty else { throw .claimMissing(.subject) }
    let scalars = subject.unicodeScalars
    guard scalars.count <= 255, !scalars.allSatisfy({ $0 == " " }), !scalars.contains(where: \.isControl) else {
        throw .claimInvalid(.subject)
    }
    guard !claims.mentions(.events) else { throw .claimInvalid(.events) }
    for claim in policy.requiredClaims {
        guard claims.has(claim) else { throw .claimMissing(claim) }
    }
    return subject
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 || (0x7f..<0xa0).contains(value) }
}
