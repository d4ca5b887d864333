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

/// Parses flow sequences and mappings, in brackets and braces (YAML 1.2, section 7.4).
extension YAMLReader {
    /// Parses a flow collection or a scalar.
    mutating func flowOrScalar(inFlow: Bool) throws(YAMLError) -> YAMLNode {
        if isAt("[") { return try flowSequence() }
        if isAt("{") { return try flowMapping() }
        return try scalar(inFlow: inFlow)
    }

    private mutating func flowSequence() throws(YAMLError) -> YAMLNode {
        try nested { reader throws(YAMLError) in
            let line = reader.line
            var elements: [YAMLNode] = []
            reader.position += 1
            while try !reader.takes("]", of: line) {
                elements.append(try reader.flowOrScalar(inFlow: true))
                try reader.endFlowMember(before: "]", of: line)
            }
            return YAMLNode(content: .sequence(elements), line: line)
        }
    }

    private mutating func flowMapping() throws(YAMLError) -> YAMLNode {
        try nested { reader throws(YAMLError) in
            let line = reader.line
            var mapping = MappingBuilder()
            reader.position += 1
            while try !reader.takes("}", of: line) {
                let start = reader.position
                let node = try reader.flowOrScalar(inFlow: true)
                reader.skipBlanks()
                let key = try reader.key(node, from: start)
                try mapping.add(key, try reader.flowValue(of: key, mappingLine: line))
                try reader.endFlowMember(before: "}", of: line)
            }
            return YAMLNode(content: .mapping(mapping.members), line: line)
        }
    }

    /// Parses the value of a key, which may be empty, even without a colon.
    private mutating func flowValue(of key: Key, mappingLine: Int) throws(YAMLError) -> YAMLNode {
        guard isAt(":") else { return .null(line: key.line) }
        position += 1
        try skipToFlowToken(of: mappingLine)
        return isAt(",") || isAt("}") ? .null(line: key.line) : try flowOrScalar(inFlow: true)
    }

    /// Skips the comma after a member; the last one may have none.
    private mutating func endFlowMember(before end: Unicode.Scalar, of collectionLine: Int) throws(YAMLError) {
        let line = self.line
        try skipToFlowToken(of: collectionLine)
        if isAt(",") {
            position += 1
        } else if !isAt(end) {
            if isAt(":"), end == "]" { throw error(.pairInSequence) }
            throw self.line > line ? error(.continuation) : malformed("expected a comma or \(end) here")
        }
    }

    /// Skips the end of a flow collection if it comes next, and returns whether it did.
    private mutating func takes(_ end: Unicode.Scalar, of collectionLine: Int) throws(YAMLError) -> Bool {
        try skipToFlowToken(of: collectionLine)
        guard isAt(end) else { return false }
        position += 1
        return true
    }

    /// - Parameter collectionLine: the line of the collection's start, for the error if it has no end.
    private mutating func skipToFlowToken(of collectionLine: Int) throws(YAMLError) {
        try skipToToken()
        guard !isAtEnd else { throw malformed("the bracket or brace here is never closed", line: collectionLine) }
    }
}
