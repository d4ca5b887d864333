private import JSON

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
    guard subject.scalarCount <= 255, !subject.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }),
        !hasControlCharacter(subject.utf8.span)
    else { throw .claimInvalid(.subject) }
    guard !claims.mentions(.events) else { throw .claimInvalid(.events) }
    for claim in policy.requiredClaims {
        guard claims.has(claim) else { throw .claimMissing(claim) }
    }
    for rule in policy.claimRules { try rule.check(claims) }
    return subject
}

/// Whether a text in UTF-8 has a control character: U+0000 to U+001F, or U+007F to U+009F.
private func hasControlCharacter(_ text: Span<UInt8>) -> Bool {
    for index in text.indices {
        if text[index] < 0x20 || text[index] == 0x7f { return true }
        // U+0080 to U+009F are all that 0xC2 begins with a second byte below 0xA0.
        if text[index] == 0xc2, index + 1 < text.count, text[index + 1] < 0xa0 { return true }
    }
    return false
}
