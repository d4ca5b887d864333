private import JSON

/// Checks the claims that must be there, those whose values are prescribed, those that must not be there, and that the token
/// is no service account's; returns `sub`.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
func checkRequiredClaims(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String {
    let subject = try checkSubject(claims)
    try checkNoEvents(claims)
    for claim in policy.requiredClaims { try checkPresence(of: claim, claims) }
    for rule in policy.claimRules { try rule.check(claims) }
    try checkServiceAccount(claims, policy, subject: subject)
    return subject
}

/// Checks `sub` and returns it: 1 to 255 characters (Unicode scalars), none of them a control character, not all of them
/// spaces. It is the key under which a user is stored.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Core 1.0, section 2.
func checkSubject(_ claims: Claims) throws(Rejection) -> String {
    guard let subject = try claims.string(.subject), !subject.isEmpty else { throw .claimMissing(.subject) }
    guard subject.hasScalars(1...255), !subject.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }),
        !hasControlCharacter(subject.utf8.span)
    else { throw .claimInvalid(.subject) }
    return subject
}

/// Checks that the token is no notification and no logout token: they are signed with the same keys as ID Tokens, addressed
/// to the same audience, and have `events`.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: RFC 8725, section 3.12; OpenID Connect Back-Channel Logout 1.0, 2.4.
func checkNoEvents(_ claims: Claims) throws(Rejection) {
    guard !claims.mentions(.events) else { throw .claimInvalid(.events) }
}

/// Checks that a claim that the settings require has a value.
///
/// - Throws: ``Rejection/claimMissing(_:)``.
func checkPresence(of claim: ClaimName, _ claims: Claims) throws(Rejection) {
    guard claims.has(claim) else { throw .claimMissing(claim) }
}

/// Whether a text in UTF-8 has a control character: U+0000 to U+001F, or U+007F to U+009F.
private func hasControlCharacter(_ text: Span<UInt8>) -> Bool {
    // Nearly every subject is, and this takes eight bytes at a time.
    if text.isPrintableASCII { return false }
    for index in text.indices {
        if text[index] < 0x20 || text[index] == 0x7f { return true }
        // U+0080 to U+009F are all that 0xC2 begins with a second byte below 0xA0.
        if text[index] == 0xc2, index + 1 < text.count, text[index + 1] < 0xa0 { return true }
    }
    return false
}
