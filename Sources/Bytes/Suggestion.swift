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
