/// Readable JSON: indented, with members in the given order.
indirect enum JSONText {
    case object([(name: String, value: JSONText)])
    case array([JSONText])
    case string(String)
    /// A number, `true`, `false` or `null`, as written.
    case literal(String)

    func text(indentation: Int = 0) -> String {
        let inner = "\n" + String(repeating: " ", count: indentation + 2)
        let end = "\n" + String(repeating: " ", count: indentation)
        switch self {
        case .object(let members):
            let lines = members.map { "\(Self.quoted($0.name)): \($0.value.text(indentation: indentation + 2))" }
            return "{" + inner + lines.joined(separator: "," + inner) + end + "}"
        case .array(let elements):
            let texts = elements.map { $0.text(indentation: indentation + 2) }
            return texts.contains { $0.contains("\n") }
                ? "[" + inner + texts.joined(separator: "," + inner) + end + "]" : "[\(texts.joined(separator: ", "))]"
        case .string(let text): return Self.quoted(text)
        case .literal(let text): return text
        }
    }

    /// Does not escape control characters: descriptions and patterns contain none.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
