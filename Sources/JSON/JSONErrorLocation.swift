/// The position at which a text stops being JSON that ``JSONObject`` accepts, and the reason.
package struct JSONErrorLocation: Error, Equatable, Sendable {
    package let error: JSONError
    /// The number of bytes before the fault; the length of the text if it ends too early.
    package let offset: Int
    /// The line, from 1.
    package let line: Int
    /// The character (Unicode scalar) in the line, from 1.
    package let column: Int
    /// Whether the text ends too early.
    package let isAtEnd: Bool

    /// Parses a rejected text again to find the fault, so that parsing an accepted one does not count lines.
    ///
    /// - Returns: `nil` if ``JSONObject/init(_:allowsNUL:)-(ArraySlice<UInt8>,_)`` accepts the text.
    package init?(in text: ArraySlice<UInt8>, allowsNUL: Bool = false) {
        var scanner = JSONScanner(allowsNUL: allowsNUL)
        do throws(JSONError) {
            _ = try scanner.topLevelObject(in: text.span)
            return nil
        } catch {
            self.error = error
        }
        offset = min(scanner.position, text.count)
        isAtEnd = error == .syntax && offset == text.count
        let before = text.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
        // Each character has one byte that is not a continuation byte.
        column = before[lineStart...].count { $0 & 0xc0 != 0x80 } + 1
    }
}
