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
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case _
            where scalar.properties.generalCategory == .control
                || ["\u{2028}", "\u{2029}", "\u{feff}"].contains(scalar):
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted += String(scalar)
            }
        }
        return quoted + "\""
    }
}

extension UInt8 {
    /// `s-white` (YAML 1.2, section 5.5).
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// `b-char` (section 5.4).
    var isBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

    /// `c-flow-indicator` (section 5.3).
    var isFlowIndicator: Bool {
        switch self {
        case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"): true
        default: false
        }
    }
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
