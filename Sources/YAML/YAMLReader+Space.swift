/// Where the reader is, and what stands between the things that it reads.
extension YAMLReader {
    /// How far the line is indented up to here.
    var column: Int { position - lineStart }

    /// The byte at an offset from here; `nil` behind the end.
    func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    func isAt(_ character: Unicode.Scalar) -> Bool { byte() == UInt8(ascii: character) }

    /// Whether white space, a line's end or the text's end stands at an offset from here.
    func isSpace(_ offset: Int) -> Bool { byte(offset).map { $0.isBlank || $0.isBreak } ?? true }

    /// Whether the document ends here, or another begins.
    var isAtEnd: Bool { position == bytes.count || isAtMarker("---") || isAtMarker("...") }

    func isAtMarker(_ marker: String) -> Bool {
        guard column == 0, isSpace(3), position + 3 <= bytes.count else { return false }
        return marker.utf8.elementsEqual(bytes[position..<(position + 3)])
    }

    /// Whether an element of a block sequence begins here.
    var isAtEntry: Bool { isAt("-") && isSpace(1) }

    /// Goes over white space, comments and line breaks to the next thing there is to read.
    mutating func skipToToken() throws(YAMLError) {
        while let byte = byte() {
            if byte.isBlank {
                position += 1
            } else if byte.isBreak {
                position += byte == UInt8(ascii: "\r") && self.byte(1) == UInt8(ascii: "\n") ? 2 : 1
                line += 1
                lineStart = position
                try skipIndentation()
            } else if byte == UInt8(ascii: "#") {
                guard column == 0 || bytes[position - 1].isBlank else { throw error(.commentWithoutSpace) }
                while let byte = self.byte(), !byte.isBreak { position += 1 }
            } else {
                return
            }
        }
    }

    /// Goes over spaces where their number counts.
    mutating func skipIndentation() throws(YAMLError) {
        while isAt(" ") { position += 1 }
        guard !isAt("\t") else { throw error(.tab) }
    }

    /// Goes over white space, but no further than the line's end.
    mutating func skipBlanks() {
        while let byte = byte(), byte.isBlank { position += 1 }
    }

    /// Goes to the next thing there is to read, which must be on a line of its own.
    mutating func skipToNextLine() throws(YAMLError) {
        let line = self.line
        try skipToToken()
        guard position == bytes.count || self.line > line else {
            throw malformed(
                "there is more on this line than a value; a text with ': ' or quotes in it needs quotes around it")
        }
    }
}
