private import Bytes

/// The header fields of one request, read in place.
package struct HTTPFields: Sendable {
    private let head: [UInt8]
    private let lines: [FieldLine]

    /// - Parameter head: the complete head that contains these field lines.
    init(_ lines: [FieldLine], of head: [UInt8]) {
        self.head = head
        self.lines = lines
    }

    /// The value of the first field with this name, ignoring case.
    package subscript(name: StaticString) -> HeadSlice? {
        for line in lines where isName(line, name) { return HeadSlice(line.value, of: head) }
        return nil
    }

    /// The value of the field with this name, if there is exactly one.
    package func only(_ name: StaticString) -> HeadSlice? {
        var found: HeadRange?
        for line in lines where isName(line, name) {
            guard found == nil else { return nil }
            found = line.value
        }
        return found.map { HeadSlice($0, of: head) }
    }

    /// The values of all fields with this name.
    package func all(_ name: StaticString) -> [HeadSlice] {
        lines.filter { isName($0, name) }.map { HeadSlice($0.value, of: head) }
    }

    /// The values of all fields with this name, which comes from the settings.
    package func values(named name: String) -> [ArraySlice<UInt8>] {
        let (head, name) = (self.head, name.utf8.span)
        var values: [ArraySlice<UInt8>] = []
        for line in lines where head.span.extracting(line.name.indices).isEqualIgnoringCase(to: name) {
            values.append(head[line.value.indices])
        }
        return values
    }

    package func contains(_ name: StaticString) -> Bool { lines.contains { isName($0, name) } }

    /// The memory of the fields and their head in bytes.
    var size: Int { head.count + lines.count * MemoryLayout<FieldLine>.stride }

    /// A part of the head that contains these fields.
    func text(_ range: HeadRange) -> HeadSlice { HeadSlice(range, of: head) }

    /// The query after a path in the request line.
    func query(behind path: HeadRange) -> HeadSlice {
        let start = path.indices.upperBound
        guard start < head.count, head[start] == UInt8(ascii: "?") else { return HeadSlice(HeadRange(0..<0), of: head) }
        let end = head[start...].firstIndex(of: UInt8(ascii: " ")) ?? head.count
        return HeadSlice(HeadRange((start + 1)..<end), of: head)
    }

    private func isName(_ line: FieldLine, _ name: StaticString) -> Bool {
        let range = line.name.indices
        return range.count == name.utf8CodeUnitCount
            && head.span.extracting(range).equals(name, ignoringCase: true)
    }
}
