/// All errors in the settings.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    /// At least one. Errors in the file come first, by line; then environment variables; then missing settings.
    package let faults: [SettingsFault]

    init(_ faults: [SettingsFault]) { self.faults = faults }

    package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// One error in the settings, and its location.
package struct SettingsFault: Equatable, CustomStringConvertible, Sendable {
    /// The line of the file, from 1; `nil` for an error in an environment variable or in the file as a whole.
    package let line: Int?
    package let message: String

    package init(line: Int?, message: String) {
        self.line = line
        self.message = message
    }

    package var description: String {
        line.map { "line \($0): \(message)" } ?? message
    }
}

/// Describes invalid values for errors.
enum ErrorValueText {
    private static let maximumLength = 100

    /// A string in quotes. Control characters are escaped, credentials in URLs are masked, and long strings are
    /// truncated.
    static func quoted(_ text: String) -> String {
        let masked = maskingCredentials(text)
        var shown = ""
        for scalar in masked.unicodeScalars.prefix(maximumLength) {
            switch scalar {
            case "\"", "\\": shown += "\\" + String(scalar)
            default:
                let isPrintable =
                    scalar.properties.generalCategory != .control
                    && scalar.properties.generalCategory != .format
                shown += isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return "\"\(shown)\"" + (masked.unicodeScalars.count > maximumLength ? "…" : "")
    }

    /// A short description of a node.
    ///
    /// - Parameter isSecret: whether its value must not be shown.
    static func of(_ node: YAMLNode, isSecret: Bool = false) -> String {
        switch node.content {
        case .scalar where node.isNull: "null"
        case .scalar(let scalar): of(scalar.string, isSecret: isSecret)
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    static func of(_ text: String, isSecret: Bool = false) -> String {
        if text.isEmpty { return "an empty string" }
        return isSecret ? "a string of \(text.count) characters" : quoted(text)
    }

    /// `https://user:password@host/` becomes `https://***@host/`.
    static func maskingCredentials(_ text: String) -> String {
        guard let credentials = credentials(in: text) else { return text }
        return text[..<credentials.lowerBound] + "***" + text[credentials.upperBound...]
    }

    /// The place of a user name or password in a URL.
    ///
    /// A password that is not percent-encoded may contain characters that end the authority. So an `@` after it counts
    /// too, unless this is an `http` URL whose authority is complete.
    static func credentials(in text: String) -> Range<String.Index>? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let port = authority.firstIndex(of: ":").map { authority[authority.index(after: $0)...] } ?? ""
        let isComplete = text.hasPrefix("http") && port.allSatisfy(\.isNumber)
        guard let at = authority.lastIndex(of: "@") ?? (isComplete ? nil : rest.lastIndex(of: "@")) else { return nil }
        return scheme.upperBound..<at
    }
}
