internal import Bytes

extension String {
    /// Whether the text is a token type of at most 255 characters: a registered name, or the absolute URI of another type
    /// (RFC 6749, section 8.1).
    var isTokenType: Bool {
        guard (1...255).contains(utf8.count) else { return false }
        let rest = utf8.drop { $0.isLetter || $0.isDigit || "-._".utf8.contains($0) }
        guard !rest.isEmpty else { return true }
        return utf8.first?.isLetter == true && rest.first == UInt8(ascii: ":")
            && rest.allSatisfy { $0.isLetter || $0.isDigit || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains($0) }
    }

    /// Whether the text is a single scope (RFC 6749, section 3.3) of at most 255 characters.
    package var isScope: Bool {
        (1...255).contains(utf8.count)
            && utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
