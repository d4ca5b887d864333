/// A string that is equal to another only byte for byte.
///
/// Swift's own strings are equal where Unicode calls them canonically equivalent. A `kid`, an issuer or an audience is not:
/// RFC 7515, section 5.3, compares code points without normalization.
package struct ExactString: Hashable, Sendable {
    package let string: String

    package init(_ string: String) { self.string = string }

    package static func == (left: ExactString, right: ExactString) -> Bool {
        let (left, right) = (left.string.utf8.span, right.string.utf8.span)
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether two strings are the same, byte for byte.
    package func isExactly(_ other: String) -> Bool { ExactString(self) == ExactString(other) }
}

extension [String] {
    /// Whether one of the strings is the same as another, byte for byte.
    package func containsExactly(_ other: String) -> Bool { contains { $0.isExactly(other) } }
}
