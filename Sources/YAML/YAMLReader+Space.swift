/// The reader's position, and the white space and comments between tokens.
extension YAMLReader {
    /// The column, from 0.
    var column: Int { position - lineStart }

    /// The byte at an offset from the position; `nil` beyond the end.
    func byte(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    func isAt(_ character: Unicode.Scalar) -> Bool { byte() == UInt8(ascii: character) }

    /// Whether there is white space, a line break or the end of the text at an offset from the position.
    func isSpace(_ offset: Int) -> Bool { byte(offset).map { $0.isBlank || $0.isBreak } ?? true }

    /// Whether the document ends here, or another one starts.
    var isAtEnd: Bool { position == bytes.count || isAtMarker("---") || isAtMarker("...") }

    func isAtMarker(_ marker: String) -> Bool {
        guard column == 0, isSpace(3), position + 3 <= bytes.count else { return false }
        return marker.utf8.elementsEqual(bytes[position..<(position + 3)])
    }

    /// Whether an element of a block sequence starts here.
    var isAtEntry: Bool { isAt("-") && isSpace(1) }

    /// Skips white space, comments and line breaks up to the next token.
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

    /// Skips the spaces of an indentation.
    mutating func skipIndentation() throws(YAMLError) {
        while isAt(" ") { position += 1 }
        guard !isAt("\t") else { throw error(.tab) }
    }

    /// Skips white space on the same line.
    mutating func skipBlanks() {
        while let byte = byte(), byte.isBlank { position += 1 }
    }

    /// Skips to the next token, which must be on a new line.
    mutating func skipToNextLine() throws(YAMLError) {
        let line = self.line
        try skipToToken()
        guard position == bytes.count || self.line > line else {
            throw malformed(
                "something follows the value on this line; a string with ': ' or quotes in it needs quotes around it")
        }
    }
}
