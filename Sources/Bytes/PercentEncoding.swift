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

/// Percent-encodes everything but RFC 3986's unreserved characters.
package func percentEncoded(_ text: String) -> String {
    var octets: [UInt8] = []
    octets.reserveCapacity(text.utf8.count)
    for octet in text.utf8 {
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            octets.append(octet)
        default:
            octets.append(UInt8(ascii: "%"))
            octets.append(contentsOf: String(hexadecimal: [octet].span).uppercased().utf8)
        }
    }
    return String(decoding: octets, as: UTF8.self)
}
