private import Bytes

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

    /// The character that an escape sequence means (YAML 1.2, section 5.7).
    private mutating func escaped(_ letter: UInt8) throws(YAMLError) -> Unicode.Scalar {
        switch letter {
        case UInt8(ascii: "a"): "\u{7}"
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "t"), UInt8(ascii: "\t"): "\t"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "v"): "\u{b}"
        case UInt8(ascii: "f"): "\u{c}"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "e"): "\u{1b}"
        case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "/"), UInt8(ascii: "\\"): Unicode.Scalar(letter)
        case UInt8(ascii: "N"): "\u{85}"
        case UInt8(ascii: "_"): "\u{a0}"
        case UInt8(ascii: "L"): "\u{2028}"
        case UInt8(ascii: "P"): "\u{2029}"
        case UInt8(ascii: "x"): try escaped(digits: 2)
        case UInt8(ascii: "u"): try escaped(digits: 4)
        case UInt8(ascii: "U"): try escaped(digits: 8)
        case UInt8(ascii: "0"): throw error(.nul)
        default: throw malformed("unknown escape; in double quotes, write a backslash twice")
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
