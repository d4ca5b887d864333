/// Why a text was rejected.
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
        case anchor = "an anchor can't be used in settings; a text that begins with & needs quotes"
        case alias = "an alias can't be used in settings: write the value out; a text that begins with * needs quotes"
        case tag = "a tag can't be used in settings; a text that begins with ! needs quotes"
        case directive = "a directive can't be used in settings"
        case severalDocuments = "settings are one document, and nothing may follow its end"
        case complexKey = "a key must be a plain word"
        case longKey = "a key may have 1024 bytes at most"
        case pairInSequence = "a key and its value within [ ] need { } of their own"
        case blockScalar =
            "a block of text can't be used in settings: write it on one line; a text that begins with | or > needs quotes"
        case openQuote = "a quoted text must end on the line where it begins"
        case continuation =
            "this does not fit what is above it: it is indented too far, a comma is missing, or a text goes on over several lines, which settings can't have"
        case tab = "a tab can't be used to indent"
        case commentWithoutSpace = "a comment needs a space before its #"
        case hyphen = "a hyphen on its own needs quotes"
        case lineBreak = "a line break or byte order mark of Unicode's can't be used in settings"
        case nul = "U+0000 can't be used in settings"
        case depth = "lists and mappings may be nested 64 deep at most"
        case size = "settings may have 1 MiB at most"
    }

    package var description: String {
        switch reason {
        case .malformed(let what): "the file is not YAML: \(what)"
        case .unsupported(let feature): feature.rawValue
        case .duplicateKey(let name): "\(name) is there twice"
        }
    }
}
