private import Bytes

/// A value of a YAML document with its position.
package struct YAMLNode: Sendable {
    package let content: Content
    /// The line on which it starts, from 1. For an empty value, the line of its key or hyphen.
    package let line: Int

    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([YAMLNode])
        case mapping([YAMLMember])
    }

    package struct Scalar: Sendable, Equatable {
        package let string: String
        /// Whether it is written without quotation marks.
        package let isPlain: Bool
    }

    /// The node for an absent value.
    static func null(line: Int) -> YAMLNode {
        YAMLNode(content: .scalar(Scalar(string: "", isPlain: true)), line: line)
    }

    package var scalar: Scalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    package var sequence: [YAMLNode]? {
        if case .sequence(let elements) = content { elements } else { nil }
    }

    package var mapping: [YAMLMember]? {
        if case .mapping(let members) = content { members } else { nil }
    }

    /// The value of a key of a mapping.
    package subscript(name: String) -> YAMLNode? { mapping?.first { $0.name == name }?.value }

    /// Whether it is `null` or empty (YAML 1.2, section 10.3.2).
    package var isNull: Bool {
        guard let scalar, scalar.isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}

/// A key with its value.
package struct YAMLMember: Sendable {
    package let name: String
    /// The line of the key.
    package let line: Int
    package let value: YAMLNode
}

/// Writes scalars that every YAML parser reads back unchanged.
package enum YAMLText {
    /// Plain if every parser reads that the same way in any context; otherwise in double quotation marks.
    package static func scalar(_ text: String) -> String {
        let isWord =
            text.first?.isLetter == true && !["true", "false", "null", "on", "off", "yes", "no"].contains(text)
        return isWord && isPlain(text) ? text : quoted(text)
    }

    /// Also plain if it is a number, a quantity or a word such as `true`, which the settings read as written.
    package static func setting(_ text: String) -> String {
        let isNumber = text.first.map { ("0"..."9").contains($0) } ?? false
        let isBoolean = ["true", "false", "on", "off"].contains(text)
        return isBoolean || isNumber && isPlain(text) ? text : scalar(text)
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isLetterOrDigit || "-._/@".utf8.contains($0) }
    }

    private static func quoted(_ text: String) -> String {
        text.quoted { scalar in
            let isEscaped =
                scalar.properties.generalCategory == .control || ["\u{2028}", "\u{2029}", "\u{feff}"].contains(scalar)
            guard isEscaped else { return nil }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension String {
    /// The text in double quotation marks, with a backslash before each quotation mark and backslash.
    ///
    /// - Parameter escape: what stands for another character; `nil`: it stands for itself.
    func quoted(_ escape: (Unicode.Scalar) -> String?) -> String {
        let shown = unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : escape($0) ?? String($0) }
        return "\"\(shown.joined())\""
    }
}

extension UInt8 {
    /// `s-white` (YAML 1.2, section 5.5).
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// `b-char` (section 5.4).
    var isBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

    /// `c-flow-indicator` (section 5.3).
    fileprivate var isFlowIndicator: Bool { ",[]{}".utf8.contains(self) }
}

extension YAMLReader {
    /// Checks that a text has only characters that YAML allows (YAML 1.2, section 5.1), and none that YAML 1.1 and 1.2
    /// treat differently.
    static func checkCharacters(_ text: Substring.UnicodeScalarView) throws(YAMLError) {
        var line = 1
        var isBehindReturn = false
        for scalar in text {
            switch scalar.value {
            case 0x0a: if !isBehindReturn { line += 1 }
            case 0x0d: line += 1
            case 0x85, 0x2028, 0x2029, 0xfeff: throw YAMLError(line: line, reason: .unsupported(.lineBreak))
            case 0x09, 0x20...0x7e, 0xa0...0xfffd, 0x1_0000...: break
            default: throw YAMLError(line: line, reason: .malformed("it has a control character"))
            }
            isBehindReturn = scalar == "\r"
        }
    }
}

/// Parses plain and quoted scalars (YAML 1.2, section 7.3).
extension YAMLReader {
    /// Parses a scalar that ends on the line where it starts.
    mutating func scalar(inFlow: Bool) throws(YAMLError) -> YAMLNode {
        let line = self.line
        let scalar =
            switch byte() {
            case UInt8(ascii: "\""): YAMLNode.Scalar(string: try doubleQuoted(), isPlain: false)
            case UInt8(ascii: "'"): YAMLNode.Scalar(string: try singleQuoted(), isPlain: false)
            default: YAMLNode.Scalar(string: try plain(inFlow: inFlow), isPlain: true)
            }
        return YAMLNode(content: .scalar(scalar), line: line)
    }

    private mutating func plain(inFlow: Bool) throws(YAMLError) -> String {
        try checkPlainStart(inFlow: inFlow)
        let start = position
        // Trailing white space does not belong to it.
        var end = position
        scanning: while let byte = byte(), !byte.isBreak {
            switch byte {
            case UInt8(ascii: "#") where bytes[position - 1].isBlank && position > start: break scanning
            case UInt8(ascii: ":") where isSpace(1): break scanning
            case UInt8(ascii: ":") where inFlow && isAtFlowIndicatorOrQuestion(1):
                throw malformed("a space is missing after a colon")
            default:
                if inFlow, byte.isFlowIndicator { break scanning }
            }
            position += 1
            if !byte.isBlank { end = position }
        }
        position = end
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Rejects characters with a special meaning at the start of a plain scalar (YAML 1.2, rules `c-indicator` and
    /// `ns-plain-first`).
    private func checkPlainStart(inFlow: Bool) throws(YAMLError) {
        switch byte() {
        case UInt8(ascii: "&"): throw error(.anchor)
        case UInt8(ascii: "*"): throw error(.alias)
        case UInt8(ascii: "!"): throw error(.tag)
        case UInt8(ascii: "%") where column == 0: throw error(.directive)
        case UInt8(ascii: "|") where !inFlow, UInt8(ascii: ">") where !inFlow: throw error(.blockScalar)
        case UInt8(ascii: "?") where inFlow || isSpace(1), UInt8(ascii: ":") where inFlow || isSpace(1):
            throw error(.complexKey)
        case UInt8(ascii: "-") where isSpace(1): throw malformed("an element of a list can't begin here")
        case UInt8(ascii: "-") where inFlow && isAtFlowIndicatorOrQuestion(1): throw error(.hyphen)
        case UInt8(ascii: "|"), UInt8(ascii: ">"), UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "`"),
            UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
            throw malformed("a string that begins with this character needs quotes")
        default: break
        }
    }

    private func isAtFlowIndicatorOrQuestion(_ offset: Int) -> Bool {
        byte(offset).map { $0.isFlowIndicator || $0 == UInt8(ascii: "?") } ?? false
    }

    private mutating func singleQuoted() throws(YAMLError) -> String {
        let quote = UInt8(ascii: "'")
        var text: [UInt8] = []
        position += 1
        while true {
            let byte = try quotedByte(quote)
            if byte == quote {
                // Two single quotation marks mean one.
                guard isAt("'") else { return String(decoding: text, as: UTF8.self) }
                position += 1
            }
            text.append(byte)
        }
    }

    private mutating func doubleQuoted() throws(YAMLError) -> String {
        let quote = UInt8(ascii: "\"")
        var text: [UInt8] = []
        position += 1
        while true {
            switch try quotedByte(quote) {
            case quote: return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += Array(String(try escaped(try quotedByte(quote))).utf8)
            case let byte: text.append(byte)
            }
        }
    }

    /// Reads the next byte of a quoted scalar.
    private mutating func quotedByte(_ quote: UInt8) throws(YAMLError) -> UInt8 {
        guard let byte = byte(), !byte.isBreak else {
            throw bytes[position...].contains(quote) ? error(.openQuote) : malformed("a quote is never closed")
        }
        position += 1
        return byte
    }

    /// What the letters of escape sequences mean (YAML 1.2, section 5.7).
    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "a": "\u{7}", "b": "\u{8}", "t": "\t", "\t": "\t", "n": "\n", "v": "\u{b}", "f": "\u{c}", "r": "\r",
        "e": "\u{1b}", " ": " ", "\"": "\"", "/": "/", "\\": "\\", "N": "\u{85}", "_": "\u{a0}", "L": "\u{2028}",
        "P": "\u{2029}",
    ]

    private mutating func escaped(_ letter: UInt8) throws(YAMLError) -> Unicode.Scalar {
        switch letter {
        case UInt8(ascii: "x"): return try escaped(digits: 2)
        case UInt8(ascii: "u"): return try escaped(digits: 4)
        case UInt8(ascii: "U"): return try escaped(digits: 8)
        case UInt8(ascii: "0"): throw error(.nul)
        default:
            guard let scalar = Self.escapes[Unicode.Scalar(letter)] else {
                throw malformed("unknown escape; in double quotes, write a backslash twice")
            }
            return scalar
        }
    }

    private mutating func escaped(digits count: Int) throws(YAMLError) -> Unicode.Scalar {
        let digits = bytes[position...].prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.hexadecimalValue != nil }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw malformed("an escape needs \(count) hexadecimal digits that encode a character") }
        guard value > 0 else { throw error(.nul) }
        position += count
        return scalar
    }
}
