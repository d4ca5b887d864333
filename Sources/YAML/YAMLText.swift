private import Bytes

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
