/// Header fields that go to the collector with each batch: a line `name: value` each, as a file has them.
package struct CollectorHeaders: Sendable {
    let fields: [(name: String, value: String)]

    package init() { fields = [] }

    /// Reads lines; empty ones, and those that begin with `#`, are passed over.
    ///
    /// - Throws: ``Malformed`` with the number of the line; what is in it may be a secret.
    package init(_ text: String) throws(Malformed) {
        var fields: [(name: String, value: String)] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingSpaces
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let colon = line.firstIndex(of: ":") else { throw Malformed(line: index + 1) }
            let name = line[..<colon]
            let value = line[line.index(after: colon)...].trimmingSpaces
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameCharacter),
                value.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
            else { throw Malformed(line: index + 1) }
            fields.append((String(name), String(value)))
        }
        self.fields = fields
    }

    /// A line that is no header field.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package var description: String { "line \(line) is not of the form name: value" }
    }

    /// A character of a token (RFC 9110, section 5.6.2).
    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
