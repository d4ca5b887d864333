internal import NIOCore

/// The header fields of one request, read where they stand.
package struct HTTPFields: Sendable {
    private let head: ByteBuffer
    private let lines: [FieldLine]

    /// - Parameter head: the whole head, whose field lines these are.
    init(_ lines: [FieldLine], of head: ByteBuffer) {
        self.head = head
        self.lines = lines
    }

    /// The value of the first field of a name, in any case of letters.
    package subscript(name: StaticString) -> HeadText? {
        for line in lines where isName(line, name) { return HeadText(line.value, of: head) }
        return nil
    }

    /// The values of all fields of a name.
    package func all(_ name: StaticString) -> [HeadText] {
        lines.filter { isName($0, name) }.map { HeadText($0.value, of: head) }
    }

    package func contains(_ name: StaticString) -> Bool { lines.contains { isName($0, name) } }

    private func isName(_ line: FieldLine, _ name: StaticString) -> Bool {
        let range = line.name.indices
        return range.count == name.utf8CodeUnitCount
            && head.readableBytesUInt8Span.extracting(range).equals(name, ignoringCase: true)
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields for a request that came over no connection.
    package init(_ fields: [(name: String, value: String)]) {
        var head = ByteBuffer()
        var lines: [FieldLine] = []
        for (name, value) in fields {
            let start = head.writerIndex
            head.writeString(name)
            let end = head.writerIndex
            head.writeString(value)
            lines.append(FieldLine(name: start..<end, value: end..<head.writerIndex))
        }
        self.init(lines, of: head)
    }

    package init(dictionaryLiteral fields: (String, String)...) { self.init(fields) }
}
