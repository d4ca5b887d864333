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
