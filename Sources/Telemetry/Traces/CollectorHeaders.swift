private import Bytes

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
            let line = line.trimming(while: \.isWhitespace)
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let colon = line.firstIndex(of: ":") else { throw Malformed(line: index + 1) }
            let name = line[..<colon]
            let value = line[line.index(after: colon)...].trimming(while: \.isWhitespace)
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter),
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
}
