private import Bytes
private import JSON

/// An e-mail address: one `addr-spec`, and nothing beside it. What is no address gets no trust, however it ends.
///
/// - One `@`. Before it, letters, digits, dots anywhere, ``!#$%&'*+-/=?^_`{|}~`` and characters beyond ASCII; so no spaces,
///   controls, commas, quotation marks, brackets, colons, semicolons or backslashes.
/// - Behind it, labels of 1 to 63 letters, digits, hyphens inside, and characters beyond ASCII, joined by dots.
/// - Of the characters beyond ASCII none is a space, a control or invisible, nor another form of `@` or of the dot.
/// - Source: RFC 5322, sections 3.2.3 and 3.4.1, with dots as providers hand them out; RFC 6531, section 3.3; RFC 1035, section
///   2.3.1, as amended by RFC 1123, section 2.1.
package struct EmailAddress {
    package let text: String
    /// Where the domain begins, in UTF-8.
    private let domainStart: Int

    /// `nil` where the text is no address.
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

    /// Whether the address is in a domain: compared without regard to the case of ASCII letters, and otherwise octet for octet.
    func isIn(_ domain: String) -> Bool {
        guard text.utf8.count - domainStart == domain.utf8.count else { return false }
        let (bytes, domain) = (text.utf8.span, domain.utf8.span)
        if bytes.extracting(domainStart...).isExactly(domain) { return true }
        for index in domain.indices
        where bytes[domainStart + index].asciiLowercased != domain[index].asciiLowercased { return false }
        return true
    }

    func isIn(oneOf domains: [String]) -> Bool { domains.contains { isIn($0) } }
}

extension UInt8 {
    /// Whether a byte may stand before the `@`: `atext` of RFC 5322, a dot, or part of a character beyond ASCII.
    fileprivate var isLocalPart: Bool {
        // A bit for each character of ASCII, from 0 and from 64.
        let (low, high): (UInt64, UInt64) = (0xa3ff_ecfa_0000_0000, 0x7fff_ffff_c7ff_fffe)
        return self >= 0x80 || ((self < 64 ? low : high) &>> UInt64(self)) & 1 == 1
    }

    /// Whether a byte may stand in a label of a domain: a letter, a digit, a hyphen, or part of a character beyond ASCII.
    fileprivate var isDomainLabel: Bool { self >= 0x80 || self == UInt8(ascii: "-") || isLetterOrDigit }
}

extension Span<UInt8> {
    /// Whether a run of bytes that may each stand in a label is one: of 1 to 63 characters, with no hyphen at either end.
    fileprivate func isDomainLabel(_ run: Range<Int>) -> Bool {
        guard !run.isEmpty, self[run.lowerBound] != UInt8(ascii: "-"), self[run.upperBound - 1] != UInt8(ascii: "-")
        else { return false }
        // Of a character's bytes, only the first counts.
        return run.count <= 63 || run.count(where: { self[$0] & 0xc0 != 0x80 }) <= 63
    }
}

extension Unicode.Scalar {
    fileprivate var isAllowedInAddress: Bool {
        if isASCII { return true }
        switch properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
        default:
            // What compatibility normalization or IDNA makes an `@` or a dot of.
            return !["\u{fe6b}", "\u{ff20}", "\u{3002}", "\u{ff0e}", "\u{ff61}"].contains(self)
        }
    }
}

extension EmailRule {
    /// Whether the provider says that it checked the address; `nil` where it says nothing.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email_verified` of another type.
    func isVerified(_ claims: Claims, hasEmail: Bool) throws(Rejection) -> Bool? {
        switch verification {
        case .emailVerified: try claims.bool(.emailVerified)
        case .claim(let path): claims.value(at: path).map(\.isTruthy)
        case .nothing: hasEmail ? false : nil
        }
    }

    /// Whether an address is a private relay's; `nil` where the provider has none and says nothing.
    ///
    /// A relay's domain wins over a claim that denies it: Apple has left the claim out for relay addresses.
    func isPrivate(_ address: borrowing EmailAddress, claimed: Bool?) -> Bool? {
        if claimed == true { return true }
        if address.isIn(oneOf: privateDomains) { return true }
        return privateDomains.isEmpty ? claimed : false
    }

    /// What an address may be used for.
    func trust(_ address: borrowing EmailAddress, isVerified: Bool, hostedDomain: String?) -> Identity.EmailTrust {
        guard isVerified else { return .unverified }
        let isRunByProvider =
            address.isIn(oneOf: authoritativeDomains)
            || (trustsHostedDomain && hostedDomain.map { address.isIn($0) } == true)
        return isRunByProvider ? .authoritative : .verified
    }
}

extension JSONValue {
    /// Microsoft's `xms_edov` has been seen as a boolean, as a number, and as a string of either.
    fileprivate var isTruthy: Bool { bool == true || integer == 1 || string == "true" || string == "1" }
}
