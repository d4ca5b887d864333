private import Bytes
private import JOSE

/// An e-mail address: exactly one `addr-spec`. Text that is not an address gets no trust, whatever domain it ends in.
///
/// - One `@`, preceded by letters, digits, dots anywhere, ``!#$%&'*+-/=?^_`{|}~`` and non-ASCII characters. Spaces,
///   controls, commas, quotation marks, brackets, colons, semicolons and backslashes are not allowed.
/// - After the `@`, labels joined by dots: 1 to 63 letters, digits, inner hyphens and non-ASCII characters.
/// - No non-ASCII character may be a space, a control, invisible, or another form of `@` or of the dot.
/// - Source: RFC 5322, sections 3.2.3 and 3.4.1, with dots as providers assign them; RFC 6531, section 3.3; RFC 1035,
///   section 2.3.1, as amended by RFC 1123, section 2.1.
package struct EmailAddress {
    package let text: String
    /// Offset of the domain in the UTF-8 text.
    private let domainStart: Int

    /// `nil` if the text is not an address.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        var everyBit: UInt8 = 0
        var index = bytes.endOfAlphanumerics(from: 0)
        while index < bytes.count, bytes[index].isLocalPart {
            everyBit |= bytes[index]
            index += 1
        }
        guard index > 0, index < bytes.count, bytes[index] == UInt8(ascii: "@") else { return nil }
        domainStart = index + 1
        repeat {
            let start = index + 1
            index = bytes.endOfAlphanumerics(from: start)
            while index < bytes.count, bytes[index].isDomainLabel {
                everyBit |= bytes[index]
                index += 1
            }
            guard bytes.isDomainLabel(start..<index) else { return nil }
        } while index < bytes.count && bytes[index] == UInt8(ascii: ".")
        guard index == bytes.count else { return nil }
        guard everyBit < 0x80 || text.unicodeScalars.allSatisfy(\.isAllowedInAddress) else { return nil }
        self.text = text
    }

    /// Whether the address is in a domain. ASCII letters are compared without regard to case, everything else byte for
    /// byte.
    func isIn(_ domain: String) -> Bool {
        text.utf8.span.extracting(domainStart...).isEqualIgnoringCase(to: domain.utf8.span)
    }

    package func isIn(oneOf domains: [String]) -> Bool { domains.contains { isIn($0) } }
}

extension UInt8 {
    /// Whether a byte may precede the `@`: `atext` of RFC 5322, a dot, or part of a non-ASCII character.
    fileprivate var isLocalPart: Bool {
        // One bit per ASCII character: 0 to 63, and 64 to 127.
        let (low, high): (UInt64, UInt64) = (0xa3ff_ecfa_0000_0000, 0x7fff_ffff_c7ff_fffe)
        return self >= 0x80 || ((self < 64 ? low : high) &>> UInt64(self)) & 1 == 1
    }

    /// Whether a byte may occur in a domain label: a letter, a digit, a hyphen, or part of a non-ASCII character.
    fileprivate var isDomainLabel: Bool { self >= 0x80 || self == UInt8(ascii: "-") || isLetterOrDigit }
}

extension Span<UInt8> {
    /// Whether a run of label bytes is a valid label: 1 to 63 characters, with no hyphen at either end.
    fileprivate func isDomainLabel(_ run: Range<Int>) -> Bool {
        guard !run.isEmpty, self[run.lowerBound] != UInt8(ascii: "-"), self[run.upperBound - 1] != UInt8(ascii: "-")
        else { return false }
        // Counts the first byte of each character.
        return run.count <= 63 || run.count(where: { self[$0] & 0xc0 != 0x80 }) <= 63
    }
}

extension Unicode.Scalar {
    fileprivate var isAllowedInAddress: Bool {
        if isASCII { return true }
        switch properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
        default:
            // Characters that compatibility normalization or IDNA turns into `@` or a dot.
            return !["\u{fe6b}", "\u{ff20}", "\u{3002}", "\u{ff0e}", "\u{ff61}"].contains(self)
        }
    }
}

extension EmailRule {
    /// Whether the provider says that it verified the address; `nil` if it doesn't say.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email_verified` of another type.
    func isVerified(_ claims: Claims) throws(Rejection) -> Bool? {
        switch verification {
        case .emailVerified: try claims.bool(.emailVerified)
        case .claim(let path): claims.value(at: path).map(\.isTruthy)
        case .nothing: false
        }
    }

    /// Whether an address is a private relay address; `nil` if the provider has no relay and doesn't say.
    ///
    /// A relay's domain wins over a claim that denies it: Apple has left the claim out for relay addresses.
    func isPrivate(_ address: borrowing EmailAddress, claimed: Bool?) -> Bool? {
        if claimed == true { return true }
        if address.isIn(oneOf: privateDomains) { return true }
        return privateDomains.isEmpty ? claimed : false
    }

    /// How far an address can be trusted.
    func trust(_ address: borrowing EmailAddress, isVerified: Bool, hostedDomain: String?) -> Identity.EmailTrust {
        guard isVerified else { return .unverified }
        if let trustedDomains, !address.isIn(oneOf: trustedDomains) { return .unverified }
        let isRunByProvider =
            address.isIn(oneOf: authoritativeDomains)
            || (trustsHostedDomain && hostedDomain.map { address.isIn($0) } == true)
        return isRunByProvider ? .authoritative : .verified
    }
}

extension JSONValue {
    /// Microsoft's `xms_edov` occurs as a boolean, as a number, and as a string of either.
    fileprivate var isTruthy: Bool { bool == true || integer == 1 || string == "true" || string == "1" }
}
