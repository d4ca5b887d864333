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
