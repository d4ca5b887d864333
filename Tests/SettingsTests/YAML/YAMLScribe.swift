import Bytes
import TestSupport

/// Generates valid documents, using all ways to write the same content.
struct YAMLScribe {
    private var generator: SplitMix64
    /// The number of keys, to keep them unique.
    private var count = 0

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func document() -> String {
        let start = one(of: ["", "", "", "# c\n", "---\n", "\n--- # c\n\n", "\u{feff}"])
        let column = one(of: [0, 0, 0, 2])
        let text =
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: sequence(at: column, 2)
            case 1: String(repeating: " ", count: column) + flow(2) + end()
            default: mapping(at: column, 3)
            }
        let whole = start + text + one(of: ["", "", "...\n", "...\n# c\n"])
        return one(of: [whole, whole, whole, whole.replacing("\n", with: "\r\n")])
    }

    private mutating func mapping(at column: Int, _ depth: Int) -> String {
        lines(at: column) { scribe in
            scribe.key() + scribe.one(of: [":", ":", " :", "\t:"]) + scribe.value(of: column, isKey: true, depth)
        }
    }

    private mutating func sequence(at column: Int, _ depth: Int) -> String {
        lines(at: column) { scribe in "-" + scribe.value(of: column, isKey: false, depth) }
    }

    private mutating func lines(at column: Int, _ line: (inout Self) -> String) -> String {
        (0..<Int.random(in: 1...4, using: &generator))
            .map { _ in String(repeating: " ", count: column) + line(&self) }.joined()
    }

    /// A value after a colon or hyphen, at a column.
    private mutating func value(of column: Int, isKey: Bool, _ depth: Int) -> String {
        let deeper = column + Int.random(in: 1...4, using: &generator)
        let rest = end(mayBeginWithTab: isKey)
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &generator) {
        case 0: return rest
        case 1: return rest + String(repeating: " ", count: deeper) + flow(depth) + end()
        case 2, 3, 4: return one(of: [" ", " ", "  "]) + flow(depth) + end()
        case 5: return rest + mapping(at: deeper, depth - 1)
        case 6: return rest + sequence(at: isKey ? one(of: [column, deeper]) : deeper, depth - 1)
        default:
            guard !isKey else { return rest + mapping(at: deeper, depth - 1) }
            // On the same line, with the hyphen counting as indentation.
            let inner = column + 1 + Int.random(in: 1...3, using: &generator)
            let text =
                Bool.random(using: &generator) ? mapping(at: inner, depth - 1) : sequence(at: inner, depth - 1)
            return String(text.dropFirst(column + 1))
        }
    }

    private mutating func flow(_ depth: Int) -> String {
        guard depth > 0, Bool.random(using: &generator) else { return scalar() }
        let isMapping = Bool.random(using: &generator)
        var text = isMapping ? "{" : "["
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            text += gap()
            if isMapping {
                text += key()
                if Bool.random(using: &generator) {
                    text += one(of: [":", " :"]) + gap(atLeast: " ") + flow(depth - 1)
                }
            } else {
                text += flow(depth - 1)
            }
            text += gap() + ","
        }
        // The last comma is optional.
        guard text.hasSuffix(","), Bool.random(using: &generator) else { return text + gap() + (isMapping ? "}" : "]") }
        return text.dropLast() + (isMapping ? "}" : "]")
    }

    private mutating func gap(atLeast least: String = "") -> String {
        one(of: [least, least, " ", "\t", "\n ", " # c\n\n  ", "\r\n  "])
    }

    private mutating func key() -> String {
        count += 1
        return one(of: [
            "k\(count)", "k\(count)", "k \(count)", "'k\(count)'", "\"k\\x2d\(count)\"", "-k\(count)", "k:\(count)",
        ])
    }

    private mutating func scalar() -> String {
        one(of: [
            "a", "a b", "-1", "a#b", "http://a/?b=c", "~", "null", "true", "1:2", "''", "\"\"", "'a: b # c'", "'it''s'",
            "\"a\\n\\u00e9\\\"\"", "é😀", "a\tb", "-a", "\"[a, {b: c}]\"", "'- a'", "a - b", "a'b\"c",
            "a&b*c!d|e>f%g@h`i",
        ])
    }

    /// The end of a line, and anything that may stand between lines.
    private mutating func end(mayBeginWithTab: Bool = true) -> String {
        one(of: ["", "", "", " ", " # c"] + (mayBeginWithTab ? ["\t", "\t#"] : []))
            + one(of: ["\n", "\n", "\n", "\n\n", "\n# c\n", "\n      # c\n   \n"])
    }

    private mutating func one<Element>(of elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }
}
