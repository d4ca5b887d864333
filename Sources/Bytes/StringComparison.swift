/// A string that equals another one only if all bytes are equal.
///
/// Swift strings are equal if Unicode calls them canonically equivalent. For a `kid`, an issuer or an audience, RFC
/// 7515, section 5.3 requires a comparison of code points without normalization.
package struct ExactString: Hashable, Sendable {
    package let string: String

    package init(_ string: String) { self.string = string }

    package static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.utf8.span.isExactly(right.string.utf8.span)
    }

    package func hash(into hasher: inout Hasher) {
        unsafe string.utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension String {
    /// Whether two strings are equal byte for byte.
    package func isExactly(_ other: String) -> Bool { ExactString(self) == ExactString(other) }

    /// Whether the string's UTF-8 equals these bytes.
    package func isExactly(_ utf8: Span<UInt8>) -> Bool { self.utf8.span.isExactly(utf8) }

    /// Whether the number of the string's Unicode scalars is within these bounds.
    package func hasScalars(_ bounds: ClosedRange<Int>) -> Bool {
        // A scalar takes one to four bytes, so most strings need no counting.
        let bytes = utf8.count
        if bytes <= bounds.upperBound, (bytes + 3) / 4 >= bounds.lowerBound { return true }
        return bounds.contains(scalarCount)
    }

    /// The number of Unicode scalars in the string. The standard library iterates over them one by one.
    private var scalarCount: Int {
        let text = utf8.span
        var continuations = 0
        var index = 0
        // Eight bytes at a time: a continuation byte starts with the bits 10.
        while index + 8 <= text.count {
            let word = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            continuations += (word & ~(word << 1) & 0x8080_8080_8080_8080).nonzeroBitCount
            index += 8
        }
        while index < text.count {
            if text[index] & 0xc0 == 0x80 { continuations += 1 }
            index += 1
        }
        return text.count - continuations
    }
}

extension [String] {
    /// Whether one of the strings equals another one byte for byte.
    package func containsExactly(_ other: String) -> Bool { contains { $0.isExactly(other) } }
}

/// Finds the word that was probably meant.
package enum Suggestion {
    /// The name nearest to a misspelled one.
    ///
    /// Case is ignored, and hyphens count as underscores.
    ///
    /// - Returns: `nil` if none is near: more than a third of the letters differ.
    package static func nearest(to text: String, among names: some Sequence<String>) -> String? {
        let folded = fold(text)
        // The edit distance takes quadratic time, and no real name is this long.
        guard folded.count <= 128 else { return nil }
        let limit = max(1, folded.count / 3)
        var best: (name: String, distance: Int)?
        for name in names {
            let candidate = fold(name)
            guard abs(candidate.count - folded.count) <= limit else { continue }
            let found = distance(folded, candidate)
            if found <= limit, found < best?.distance ?? .max { best = (name, found) }
        }
        return best?.name
    }

    private static func fold(_ text: String) -> [UInt8] {
        text.lowercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    }

    /// The edit distance, with a swap of adjacent characters as one edit (optimal string alignment).
    package static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for (row, byte) in one.enumerated() {
            var current = [row + 1]
            for (column, otherByte) in other.enumerated() {
                let substitution = last[column] + (byte == otherByte ? 0 : 1)
                var best = min(last[column + 1] + 1, current[column] + 1, substitution)
                if row > 0, column > 0, byte == other[column - 1], one[row - 1] == otherByte {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
