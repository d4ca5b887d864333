/// Where a text stops being JSON that ``JSONObject`` accepts, and why.
package struct JSONErrorLocation: Error, Equatable, Sendable {
    package let error: JSONError
    /// How many bytes precede the fault. Of a text that ends too early: all of it.
    package let offset: Int
    /// The line, from 1.
    package let line: Int
    /// The character (Unicode scalar) within the line, from 1.
    package let column: Int
    /// Whether the text ends where more of it was expected.
    package let isAtEnd: Bool

    /// Reads a refused text a second time to find the fault, so that reading an accepted one keeps no track of lines.
    ///
    /// - Returns: `nil` where ``JSONObject/init(_:allowsNUL:)-(ArraySlice<UInt8>,_)`` accepts the text.
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
        // Each character has one byte that does not continue another.
        column = before[lineStart...].count { $0 & 0xc0 != 0x80 } + 1
    }
}
