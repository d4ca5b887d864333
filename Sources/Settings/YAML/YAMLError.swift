/// Why a file was rejected.
package struct YAMLError: Error, Equatable, CustomStringConvertible {
    /// The line of the error, from 1.
    package let line: Int
    package let reason: Reason

    package init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }

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
