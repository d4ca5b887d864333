/// JSON text for people: the same members in the same order, each on a line of its own.
enum IndentedJSON {
    /// - Parameter json: valid JSON. Any other text comes out with other line breaks.
    static func text(_ json: [UInt8]) -> String {
        var result: [UInt8] = []
        /// The open brackets.
        var open: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        let brace = UInt8(ascii: "{")
        func indent() {
            result.append(UInt8(ascii: "\n"))
            result += Array(repeating: UInt8(ascii: " "), count: 2 * open.count { $0 == brace })
        }
        for octet in json {
            if isInString {
                result.append(octet)
                if octet == UInt8(ascii: "\""), !isEscaped { isInString = false }
                isEscaped = octet == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch octet {
            case brace, UInt8(ascii: "["):
                result.append(octet)
                open.append(octet)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let isEmpty = result.last == open.last
                if open.popLast() == brace, !isEmpty { indent() }
                result.append(octet)
            case UInt8(ascii: ","):
                result.append(octet)
                if open.last == brace { indent() } else { result.append(UInt8(ascii: " ")) }
            case UInt8(ascii: ":"): result += ": ".utf8
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            default:
                if open.last == brace, result.last == brace { indent() }
                result.append(octet)
                isInString = octet == UInt8(ascii: "\"")
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
