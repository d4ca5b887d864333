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

extension YAMLReader {
    struct Key {
        let name: String
        let line: Int
    }

    /// The key that a node represents.
    ///
    /// - Parameter start: where the node started; the reader is at the colon.
    func key(_ node: YAMLNode, from start: Int) throws(YAMLError) -> Key {
        guard let name = node.scalar?.string else {
            throw YAMLError(line: node.line, reason: .unsupported(.complexKey))
        }
        // YAML 1.2, section 7.4.2 limits it in characters; this limit is in bytes.
        guard position - start <= Self.maximumKeyLength else { throw error(.longKey) }
        return Key(name: name, line: node.line)
    }

    /// Collects the members of a mapping.
    struct MappingBuilder {
        private(set) var members: [YAMLMember] = []
        private var names: Set<String> = []

        mutating func add(_ key: Key, _ value: YAMLNode) throws(YAMLError) {
            guard names.insert(key.name).inserted else {
                throw YAMLError(line: key.line, reason: .duplicateKey(key.name))
            }
            members.append(YAMLMember(name: key.name, line: key.line, value: value))
        }
    }
}

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

/// Why a file was rejected.
package struct YAMLError: Error, Equatable, CustomStringConvertible {
    /// The line of the error, from 1.
    package let line: Int
    package let reason: Reason

    package enum Reason: Equatable {
        /// Not YAML; the associated text says what is wrong.
        case malformed(String)
        /// A YAML feature, or something that some parsers take for one, that settings don't need.
        case unsupported(Feature)
        case duplicateKey(String)
    }

    /// Rejected, because settings don't need it or because YAML parsers disagree on it.
    package enum Feature: String, CaseIterable {
        case anchor = "an anchor can't be used in settings; a string that begins with & needs quotes"
        case alias = "an alias can't be used in settings: write the value out; a string that begins with * needs quotes"
        case tag = "a tag can't be used in settings; a string that begins with ! needs quotes"
        case directive = "a directive can't be used in settings"
        case severalDocuments = "settings are one document, and nothing may follow its end"
        case complexKey = "a key must be a plain word"
        case longKey = "a key may have at most 1024 bytes"
        case pairInSequence = "a key and its value within [ ] need { } around them"
        case blockScalar =
            "a block scalar can't be used in settings: write it on one line; a string that begins with | or > needs quotes"
        case openQuote = "a quoted string must end on the line where it begins"
        case continuation =
            "this does not fit the lines above: it is indented too far, a comma is missing, or it continues a string, which must be on one line"
        case tab = "a tab can't be used to indent"
        case commentWithoutSpace = "a comment needs a space before its #"
        case hyphen = "a hyphen on its own needs quotes"
        case lineBreak = "a Unicode line break or byte order mark can't be used in settings"
        case nul = "U+0000 can't be used in settings"
        case depth = "lists and mappings may be nested at most 64 deep"
        case size = "settings may have at most 1 MiB"
    }

    package var description: String {
        switch reason {
        case .malformed(let what): "the file is not YAML: \(what)"
        case .unsupported(let feature): feature.rawValue
        case .duplicateKey(let name): "duplicate key \(name)"
        }
    }
}
