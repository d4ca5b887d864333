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

    /// `nil` where the text is no address. One pass over its bytes, and a second only where one is beyond ASCII.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        var index = 0
        var everyBit: UInt8 = 0
        while index < bytes.count, bytes[index] != UInt8(ascii: "@") {
            guard bytes[index].isLocalPart else { return nil }
            everyBit |= bytes[index]
            index += 1
        }
        guard index > 0, index < bytes.count else { return nil }
        domainStart = index + 1
        // As if behind a dot.
        var label = 0
        var last = UInt8(ascii: ".")
        for index in domainStart..<bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: ".") {
                guard (1...63).contains(label), last != UInt8(ascii: "-") else { return nil }
                label = 0
            } else {
                guard byte.isLetterOrDigit || byte >= 0x80 || (byte == UInt8(ascii: "-") && label > 0) else {
                    return nil
                }
                // What goes on a character counts with its first byte.
                if byte & 0xc0 != 0x80 { label += 1 }
                everyBit |= byte
            }
            last = byte
        }
        guard (1...63).contains(label), last != UInt8(ascii: "-") else { return nil }
        guard everyBit < 0x80 || text.unicodeScalars.allSatisfy(\.isOfAddress) else { return nil }
        self.text = text
    }

    /// What follows the `@`, compared without regard to the case of ASCII letters, and otherwise octet for octet.
    var domain: EmailDomain { EmailDomain(address: text, start: domainStart) }
}

extension UInt8 {
    /// Whether a byte may stand before the `@`: `atext` of RFC 5322, a dot, or part of a character beyond ASCII.
    fileprivate var isLocalPart: Bool {
        // A bit for each character of ASCII, from 0 and from 64.
        let (low, high): (UInt64, UInt64) = (0xa3ff_ecfa_0000_0000, 0x7fff_ffff_c7ff_fffe)
        return self >= 0x80 || ((self < 64 ? low : high) >> UInt64(self & 63)) & 1 == 1
    }
}

extension Unicode.Scalar {
    fileprivate var isOfAddress: Bool {
        if isASCII { return true }
        switch properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
        default:
            // What compatibility normalization or IDNA makes an `@` or a dot of.
            return !["\u{fe6b}", "\u{ff20}", "\u{3002}", "\u{ff0e}", "\u{ff61}"].contains(self)
        }
    }
}

/// The domain of an address.
struct EmailDomain {
    fileprivate let address: String
    fileprivate let start: Int

    static func == (domain: EmailDomain, other: String) -> Bool {
        let (bytes, other) = (domain.address.utf8.span, other.utf8.span)
        guard bytes.count - domain.start == other.count else { return false }
        if bytes.extracting(domain.start...).isExactly(other) { return true }
        for index in other.indices
        where asciiLowercased(bytes[domain.start + index]) != asciiLowercased(other[index]) { return false }
        return true
    }

    func isOne(of domains: [String]) -> Bool { domains.contains { self == $0 } }
}

func asciiLowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

extension EmailRule {
    /// Whether the provider says that it checked the address; `nil` where it says nothing.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for an `email_verified` of another type.
    func isVerified(_ claims: Claims, hasEmail: Bool) throws(Rejection) -> Bool? {
        switch verification {
        case .emailVerified: try claims.bool(.emailVerified)
        case .claim(let path): claims.value(at: path).map(\.saysYes)
        case .nothing: hasEmail ? false : nil
        }
    }

    /// Whether an address in this domain is a private relay's; `nil` where the provider has none and says nothing.
    ///
    /// A relay's domain wins over a claim that denies it: Apple has left the claim out for relay addresses.
    func isPrivate(_ domain: EmailDomain, claimed: Bool?) -> Bool? {
        if claimed == true { return true }
        if domain.isOne(of: privateDomains) { return true }
        return privateDomains.isEmpty ? claimed : false
    }

    /// What an address in this domain may be used for.
    func trust(in domain: EmailDomain, isVerified: Bool, hostedDomain: String?) -> Identity.EmailTrust {
        guard isVerified else { return .unverified }
        let isRunByProvider =
            domain.isOne(of: authoritativeDomains) || (trustsHostedDomain && hostedDomain.map { domain == $0 } == true)
        return isRunByProvider ? .authoritative : .verified
    }
}

extension JSONValue {
    /// Microsoft's `xms_edov` has been seen as a boolean, as a number, and as a string of either.
    fileprivate var saysYes: Bool { bool == true || integer == 1 || string == "true" || string == "1" }
}
