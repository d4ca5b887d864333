private import Bytes

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
