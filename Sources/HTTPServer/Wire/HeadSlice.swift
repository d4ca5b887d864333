private import Bytes

/// The location of a part of a request's head, relative to the head's first byte.
struct HeadRange: Sendable {
    private let start: UInt32
    private let end: UInt32

    init(_ range: Range<Int>) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
    }

    var indices: Range<Int> { Int(start)..<Int(end) }
}

/// A part of a request's head, read in place: a path, or a field's value.
package struct HeadSlice: Sendable {
    private let head: [UInt8]
    private let range: Range<Int>

    init(_ range: HeadRange, of head: [UInt8]) {
        self.head = head
        self.range = range.indices
    }

    package var count: Int { range.count }

    /// The text; invalid UTF-8 becomes U+FFFD.
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package var bytes: ArraySlice<UInt8> { head[range] }

    /// Whether two texts are equal byte for byte.
    package static func == (text: HeadSlice, other: StaticString) -> Bool {
        text.head.span.extracting(text.range).equals(other)
    }

    package func hasPrefix(_ prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return count >= length && head.span.extracting(range.prefix(length)).equals(prefix)
    }

    /// Whether an item of a comma-separated list is this word, without regard to case.
    func lists(_ word: StaticString) -> Bool {
        bytes.split(separator: UInt8(ascii: ",")).contains { item in
            let item = item.drop { $0.isBlank }.prefix { !$0.isBlank }
            return word.withUTF8Buffer { unsafe item.lazy.map(\.asciiLowercased).elementsEqual($0) }
        }
    }
}

extension Span<UInt8> {
    /// - Parameter ignoringCase: whether ASCII letters may differ in case.
    func equals(_ other: StaticString, ignoringCase: Bool = false) -> Bool {
        guard count == other.utf8CodeUnitCount else { return false }
        return other.withUTF8Buffer { other in
            for index in indices {
                let byte = self[index]
                let wanted = unsafe other[index]
                guard byte == wanted || (ignoringCase && byte.asciiLowercased == wanted.asciiLowercased) else {
                    return false
                }
            }
            return true
        }
    }
}
