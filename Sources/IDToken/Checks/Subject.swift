private import Bytes

/// Checks `sub` and returns it: not longer than the policy allows, in characters (Unicode scalars), without control
/// characters, and not only spaces. Relying parties store users under it.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Core 1.0, section 2.
package func checkSubject(_ claims: Claims, _ policy: borrowing ProviderPolicy) throws(Rejection) -> String {
    guard let subject = try claims.string(.subject), !subject.isEmpty else { throw .claimMissing(.subject) }
    guard subject.hasScalars(1...policy.maximumSubjectLength), !subject.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }),
        !hasControlCharacter(subject.utf8.span)
    else { throw .claimInvalid(.subject) }
    return subject
}

/// Whether a UTF-8 text contains a control character: U+0000 to U+001F, or U+007F to U+009F.
private func hasControlCharacter(_ text: Span<UInt8>) -> Bool {
    // Fast path, eight bytes at a time: nearly every subject is printable ASCII.
    if text.isPrintableASCII { return false }
    for index in text.indices {
        if text[index] < 0x20 || text[index] == 0x7f { return true }
        // U+0080 to U+009F are encoded as 0xC2 followed by a byte below 0xA0.
        if text[index] == 0xc2, index + 1 < text.count, text[index + 1] < 0xa0 { return true }
    }
    return false
}
