private import JSON

/// The domain of an address in lower case (ASCII only): what follows the last `@`; `nil` where that is
/// nothing.
func emailDomain(_ address: String) -> String? {
    guard let at = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let domain = asciiLowercased(address[address.utf8.index(after: at)...])
    return domain.isEmpty ? nil : domain
}

func asciiLowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
}

extension EmailRule {
    /// Whether an address is a private relay's; `nil` where the provider has none and says nothing.
    ///
    /// A relay's domain wins over a claim that denies it: Apple has left the claim out for relay addresses.
    func isPrivate(_ domain: String?, claimed: Bool?) -> Bool? {
        if claimed == true { return true }
        if let domain, privateDomains.containsExactly(domain) { return true }
        return privateDomains.isEmpty ? claimed : false
    }

    /// What an address in this domain may be used for.
    func trust(in domain: String?, isVerified: Bool, hostedDomain: String?) -> Identity.EmailTrust {
        guard isVerified else { return .unverified }
        guard let domain else { return .verified }
        let isRunByProvider =
            authoritativeDomains.containsExactly(domain)
            || (trustsHostedDomain && hostedDomain.map(asciiLowercased)?.isExactly(domain) == true)
        return isRunByProvider ? .authoritative : .verified
    }
}
