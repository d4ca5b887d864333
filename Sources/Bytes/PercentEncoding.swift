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
    percentEncoded(text) { octet in
        octet.isLetterOrDigit || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "_")
            || octet == UInt8(ascii: "~")
    }
}

/// Percent-encodes every octet of UTF-8 that is not kept.
package func percentEncoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
    // Most texts need no encoding, and then no copy.
    guard !text.utf8.allSatisfy(isKept) else { return text }
    var octets: [UInt8] = []
    octets.reserveCapacity(3 * text.utf8.count)
    for octet in text.utf8 {
        if isKept(octet) {
            octets.append(octet)
        } else {
            octets.append(UInt8(ascii: "%"))
            octets.append(contentsOf: String(hexadecimal: [octet].span).uppercased().utf8)
        }
    }
    return String(decoding: octets, as: UTF8.self)
}
