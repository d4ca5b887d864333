extension String {
    /// Whether the text is a single scope (RFC 6749, 3.3).
    package var isScope: Bool {
        !isEmpty
            && utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
