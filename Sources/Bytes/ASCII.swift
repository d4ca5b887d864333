// Inlined, because they are called for each byte of a request.
extension UInt8 {
    /// Whether it is an ASCII digit.
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether it is an ASCII letter.
    @inlinable package var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }

    /// Whether it is an ASCII letter or digit.
    @inlinable package var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }

    /// Whether it is one of a URI's unreserved characters (RFC 3986, section 2.3).
    @inlinable package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isLetterOrDigit
        }
    }

    /// `tchar`: the characters of HTTP's methods and field names (RFC 9110, section 5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"): true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// An ASCII letter in lower case; any other byte unchanged.
    @inlinable package var asciiLowercased: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }

    /// Whether it is a visible ASCII character: neither a space nor a control character.
    @inlinable package var isVisibleASCII: Bool { (0x21...0x7e).contains(self) }

    /// Whether it is a space or a tab.
    @inlinable package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether it is a visible ASCII character or a space.
    @inlinable package var isPrintableASCII: Bool { (0x20...0x7e).contains(self) }

    /// Whether it is a lower-case hexadecimal digit.
    @inlinable package var isLowercaseHexadecimal: Bool { isDigit || (0x61...0x66).contains(self) }

    /// The value of a hexadecimal digit in either case; `nil` for any other byte.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self & 15
        case 0x41...0x46, 0x61...0x66: (self & 15) + 9
        default: nil
        }
    }
}

extension String {
    /// Untrusted text for display: in quotation marks, as printable ASCII, and shortened if it is long.
    ///
    /// - Parameter maximumLength: the most characters (Unicode scalars) to show.
    package func quotedASCII(maximumLength: Int) -> String {
        let scalars = unicodeScalars.prefix(maximumLength)
        let end = scalars.count < unicodeScalars.count ? "…" : ""
        return "\"" + scalars.map { $0.escaped(asASCII: true) }.joined() + end + "\""
    }
}

extension BidirectionalCollection {
    /// The part from the first to the last element that does not match.
    @inlinable package func trimming(while isTrimmed: (Element) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        guard let last = rest.lastIndex(where: { !isTrimmed($0) }) else { return rest }
        return rest[...last]
    }
}

extension StringProtocol {
    /// Whether the text is a UUID in lower case (RFC 9562, section 4).
    package var isLowercaseUUID: Bool {
        let groups = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy(\.isLowercaseHexadecimal) }
    }
}
