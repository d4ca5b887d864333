/// Reads the part of YAML that settings need: block and flow mappings and sequences, plain and quoted scalars that end
/// on the line where they start, comments, and one document.
///
/// Everything that it accepts means the same in YAML 1.1 and 1.2. All other features are rejected by name
/// (``YAMLError/Feature``). Nothing is read twice, so the time is proportional to the length of the text.
package struct YAMLReader {
    let bytes: [UInt8]
    var position = 0
    /// The line at `position`, from 1, and the position of its start.
    var line = 1
    var lineStart = 0
    /// The number of open collections.
    private var depth = 0

    package static let maximumSize = 1024 * 1024
    package static let maximumDepth = 64
    /// The longest key in bytes, up to its colon.
    package static let maximumKeyLength = 1024

    /// Reads a text that is one document.
    ///
    /// - Returns: its value; `nil` if it contains only comments.
    package static func read(_ text: String) throws(YAMLError) -> YAMLNode? {
        guard text.utf8.count <= maximumSize else { throw YAMLError(line: 1, reason: .unsupported(.size)) }
        let scalars = text.unicodeScalars
        // The text may start with a byte order mark.
        let content = scalars.first == "\u{feff}" ? scalars.dropFirst() : scalars[...]
        try checkCharacters(content)
        var reader = YAMLReader(bytes: Array(Substring(content).utf8))
        return try reader.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func document() throws(YAMLError) -> YAMLNode? {
        try skipIndentation()
        try skipToToken()
        var isBehindMarker = false
        guard !isAtMarker("...") else { throw malformed("there is no document that could end here") }
        if isAtMarker("---") {
            position += 3
            let line = self.line
            try skipToToken()
            isBehindMarker = line == self.line
        }
        var root: YAMLNode?
        if !isAtEnd { root = isBehindMarker ? try inlineNode() : try blockNode() }
        let isClosed = isAtMarker("...")
        if isClosed {
            position += 3
            try skipToToken()
        }
        guard position < bytes.count else { return root }
        if isClosed || isAtEnd { throw error(.severalDocuments) }
        // Some parsers take it for the element of a hyphen at the same indentation.
        if isAt("|") || isAt(">") { throw error(.blockScalar) }
        throw root?.scalar == nil ? malformed("this does not belong to the lines above") : error(.continuation)
    }

    /// Reads a collection inside the open ones.
    mutating func nested<Value>(
        _ read: (inout YAMLReader) throws(YAMLError) -> Value
    ) throws(YAMLError) -> Value {
        guard depth < Self.maximumDepth else { throw error(.depth) }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    // MARK: Errors

    func error(_ feature: YAMLError.Feature) -> YAMLError { YAMLError(line: line, reason: .unsupported(feature)) }

    /// - Parameter line: if it differs from the current one.
    func malformed(_ what: String, line: Int? = nil) -> YAMLError {
        YAMLError(line: line ?? self.line, reason: .malformed(what))
    }
}
