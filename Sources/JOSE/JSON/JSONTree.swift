private import CJansson

/// A JSON text as a tree of values, parsed by jansson: for key sets, discovery documents and other cold paths.
///
/// It distinguishes integers from reals. It rejects duplicate members, invalid UTF-8, U+0000, trailing bytes, integers
/// beyond 64 bits and reals beyond a double. Names are Swift strings, so they compare by Unicode equivalence.
package indirect enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// Parses a text whose outermost value must be an object.
    ///
    /// - Throws: ``JSONError``.
    package init(readingObject text: [UInt8]) throws(JSONError) {
        let document = try JSONDocument(text)
        guard document.isObject else { throw .notAnObject }
        self = try document.tree()
    }

    package var object: [String: JSONTree]? { if case .object(let members) = self { members } else { nil } }
    package var array: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }
    package var string: String? { if case .string(let string) = self { string } else { nil } }
    package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
}

/// A `json_t` and its contents: owned, confined to one thread, freed once.
@safe private struct JSONDocument: ~Copyable {
    private let root: UnsafeMutablePointer<json_t>

    /// jansson seeds its hash tables lazily and without synchronization; a `static let` does it once, before the first
    /// text.
    private static let isSeeded: Void = json_object_seed(0)

    init(_ text: [UInt8]) throws(JSONError) {
        Self.isSeeded
        // jansson 2.14 accepts a NUL after a number; valid JSON contains none.
        guard !text.contains(0) else { throw .syntax }
        var error = json_error_t()
        // JSON_DECODE_ANY, JSON_DISABLE_EOF_CHECK and JSON_ALLOW_NUL stay off.
        let root = unsafe text.withUnsafeBytes { text in
            unsafe json_loadb(text.baseAddress, text.count, Int(JSON_REJECT_DUPLICATES), &error)
        }
        guard let root = unsafe root else { throw JSONError(error) }
        unsafe self.root = root
    }

    deinit { unsafe assayReleaseJSON(root) }

    var isObject: Bool { unsafe root.pointee.type == JSON_OBJECT }

    /// Copies the whole document to Swift values.
    func tree() throws(JSONError) -> JSONTree { try unsafe Self.tree(root, depth: 1) }

    private static func tree(_ value: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) -> JSONTree {
        switch unsafe value.pointee.type {
        case JSON_OBJECT:
            guard depth <= JSONLimits.maximumDepth else { throw .tooDeep }
            var members: [String: JSONTree] = [:]
            var iterator = unsafe json_object_iter(value)
            while let current = unsafe iterator {
                if let name = unsafe json_object_iter_key(current), let member = unsafe json_object_iter_value(current)
                {
                    unsafe members[String(cString: name)] = try tree(member, depth: depth + 1)
                }
                unsafe iterator = json_object_iter_next(value, current)
            }
            return .object(members)
        case JSON_ARRAY:
            guard depth <= JSONLimits.maximumDepth else { throw .tooDeep }
            var elements: [JSONTree] = []
            for index in 0..<(unsafe json_array_size(value)) {
                if let element = unsafe json_array_get(value, index) {
                    try elements.append(unsafe tree(element, depth: depth + 1))
                }
            }
            return .array(elements)
        case JSON_STRING: return .string(unsafe String(cString: json_string_value(value)))
        case JSON_INTEGER: return .integer(unsafe json_integer_value(value))
        case JSON_REAL: return .real(unsafe json_real_value(value))
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        default: return .null
        }
    }
}

extension JSONError {
    fileprivate init(_ error: json_error_t) {
        var error = error
        self =
            switch unsafe assayErrorCode(&error) {
            case json_error_duplicate_key: .duplicateMember
            case json_error_invalid_utf8, json_error_null_character, json_error_null_byte_in_key: .encoding
            case json_error_stack_overflow: .tooDeep
            case json_error_numeric_overflow: .numberOutOfRange
            default: .syntax
            }
    }
}

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
