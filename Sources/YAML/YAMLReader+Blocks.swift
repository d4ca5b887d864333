/// Parses block mappings and sequences, which are delimited by indentation (YAML 1.2, chapter 8).
///
/// Each function leaves the reader at the start of the next item, which is on a new line.
extension YAMLReader {
    /// Parses a node where a key or a hyphen may start: on a new line, or after a hyphen.
    mutating func blockNode() throws(YAMLError) -> YAMLNode {
        if isAtEntry { return try blockSequence() }
        let column = self.column
        let start = position
        let node = try flowOrScalar(inFlow: false)
        guard isBehindKey() else {
            try skipToNextLine()
            return node
        }
        return try blockMapping(at: column, from: try key(node, from: start))
    }

    /// Parses a node after something else on its line, where only a value may start.
    mutating func inlineNode() throws(YAMLError) -> YAMLNode {
        guard !isAtEntry else { throw malformed("a list must begin on a line of its own") }
        let node = try flowOrScalar(inFlow: false)
        try skipToNextLine()
        return node
    }

    private mutating func blockMapping(at column: Int, from first: Key) throws(YAMLError) -> YAMLNode {
        try nested { reader throws(YAMLError) in
            var mapping = MappingBuilder()
            var key = first
            while true {
                try mapping.add(key, try reader.blockValue(at: column))
                guard try reader.continues(at: column) else { break }
                key = try reader.blockKey()
            }
            return YAMLNode(content: .mapping(mapping.members), line: first.line)
        }
    }

    private mutating func blockKey() throws(YAMLError) -> Key {
        guard !isAtEntry else { throw malformed("expected a key here, found an element of a list") }
        let start = position
        let node = try flowOrScalar(inFlow: false)
        guard isBehindKey() else { throw malformed("expected a key, a colon and a space here", line: node.line) }
        return try key(node, from: start)
    }

    /// Whether the text that was just read is a key, because a colon follows.
    private mutating func isBehindKey() -> Bool {
        skipBlanks()
        return isAt(":") && isSpace(1)
    }

    /// Parses the value after the colon of a key at a column.
    private mutating func blockValue(at column: Int) throws(YAMLError) -> YAMLNode {
        position += 1
        let line = self.line
        try skipToToken()
        if self.line == line, position < bytes.count { return try inlineNode() }
        // A sequence may have the same indentation as its key.
        if !isAtEnd, self.column == column, isAtEntry { return try blockSequence() }
        return try blockNode(deeperThan: column) ?? .null(line: line)
    }

    private mutating func blockSequence() throws(YAMLError) -> YAMLNode {
        try nested { reader throws(YAMLError) in
            let column = reader.column
            let line = reader.line
            var elements: [YAMLNode] = []
            repeat {
                elements.append(try reader.blockElement(at: column))
            } while try reader.continues(at: column) && reader.isAtEntry
            return YAMLNode(content: .sequence(elements), line: line)
        }
    }

    /// Parses the value after a hyphen at a column.
    private mutating func blockElement(at column: Int) throws(YAMLError) -> YAMLNode {
        position += 1
        let line = self.line
        try skipIndentation()
        try skipToToken()
        return try blockNode(deeperThan: column) ?? .null(line: line)
    }

    private mutating func blockNode(deeperThan column: Int) throws(YAMLError) -> YAMLNode? {
        isAtEnd || self.column <= column ? nil : try blockNode()
    }

    /// Whether the next item is at a column and thus belongs to the same collection.
    private func continues(at column: Int) throws(YAMLError) -> Bool {
        guard !isAtEnd else { return false }
        guard self.column <= column else { throw error(.continuation) }
        return self.column == column
    }
}
