/// The octets that percent-encoded text stands for; `nil` where a `%` has no two hexadecimal digits behind it (RFC 3986,
/// section 2.1).
package func percentDecoded(_ text: some StringProtocol) -> [UInt8]? {
    var octets: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let octet = rest.popFirst() {
        guard octet == UInt8(ascii: "%") else {
            octets.append(octet)
            continue
        }
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16) else {
            return nil
        }
        octets.append(decoded)
        rest = rest.dropFirst(2)
    }
    return octets
}
