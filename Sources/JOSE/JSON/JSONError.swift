/// Why a text is not accepted: this module accepts RFC 8259, except for texts that two parsers could read differently.
package enum JSONError: Error, Equatable, Sendable {
    /// Not JSON, or followed by something else.
    case syntax
    /// Not UTF-8, a lone surrogate, or U+0000.
    case encoding
    /// Two members of one object with the same name, however it is escaped.
    case duplicateMember
    /// Arrays and objects nested deeper than ``JSONLimits/maximumDepth``.
    case tooDeep
    /// A real number beyond the range of a double.
    case numberOutOfRange
    /// JSON, but not an object.
    case notAnObject
}

package enum JSONLimits {
    /// The maximum nesting depth of arrays and objects, including the outermost.
    package static let maximumDepth = 64
}

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
