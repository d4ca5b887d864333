private import Bytes

extension String {
    /// Whether the text is a single scope (RFC 6749, section 3.3) of at most 255 characters.
    package var isScope: Bool {
        (1...255).contains(utf8.count)
            && utf8.allSatisfy { $0.isVisibleASCII && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
