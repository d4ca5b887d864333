private import JSON

/// The domain of an address: what follows the last `@`. Compared without regard to the case of ASCII letters, and otherwise
/// octet for octet.
struct EmailDomain {
    private let address: String
    private let start: Int

    /// `nil` where nothing follows an `@`.
    init?(_ address: String) {
        let bytes = address.utf8.span
        var start = bytes.count
        while start > 0, bytes[start - 1] != UInt8(ascii: "@") { start -= 1 }
        guard start > 0, start < bytes.count else { return nil }
        self.address = address
        self.start = start
    }

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

    /// Whether an address is a private relay's; `nil` where the provider has none and says nothing.
    ///
    /// A relay's domain wins over a claim that denies it: Apple has left the claim out for relay addresses.
    func isPrivate(_ domain: EmailDomain?, claimed: Bool?) -> Bool? {
        if claimed == true { return true }
        if let domain, domain.isOne(of: privateDomains) { return true }
        return privateDomains.isEmpty ? claimed : false
    }

    /// What an address in this domain may be used for.
    func trust(in domain: EmailDomain?, isVerified: Bool, hostedDomain: String?) -> Identity.EmailTrust {
        guard isVerified else { return .unverified }
        guard let domain else { return .verified }
        let isRunByProvider =
            domain.isOne(of: authoritativeDomains) || (trustsHostedDomain && hostedDomain.map { domain == $0 } == true)
        return isRunByProvider ? .authoritative : .verified
    }
}

extension JSONValue {
    /// Microsoft's `xms_edov` has been seen as a boolean, as a number, and as a string of either.
    fileprivate var saysYes: Bool { bool == true || integer == 1 || string == "true" || string == "1" }
}
