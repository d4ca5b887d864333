extension StringProtocol {
    /// Whether the text is a UUID in lower case (RFC 9562, section 4).
    package var isLowercaseUUID: Bool {
        let groups = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy(\.isLowercaseHexadecimal) }
    }
}
