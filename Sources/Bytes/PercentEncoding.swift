/// Decodes percent-encoded text; `nil` if a `%` is not followed by two hexadecimal digits (RFC 3986, section 2.1).
package func percentDecoded(_ text: some StringProtocol) -> [UInt8]? {
    var octets: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let octet = rest.popFirst() {
        guard octet == UInt8(ascii: "%") else {
            octets.append(octet)
            continue
        }
        guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
            return nil
        }
        octets.append(high << 4 | low)
    }
    return octets
}
