private import Bytes

/// Header fields for each request to the collector. A file has one `name: value` per line.
package struct CollectorHeaders: Sendable {
    let fields: [(name: String, value: String)]

    package init() { fields = [] }

    /// Reads lines. Empty lines and lines that begin with `#` are ignored.
    ///
    /// - Throws: ``Malformed`` with the line number, but not the line, which may contain a secret.
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
                value.utf8.allSatisfy(\.isPrintableASCII)
            else { throw Malformed(line: index + 1) }
            fields.append((String(name), String(value)))
        }
        self.fields = fields
    }

    /// A line that is not a header field.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package var description: String { "line \(line) is not of the form name: value" }
    }
}
