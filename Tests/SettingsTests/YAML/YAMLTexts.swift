import Settings

/// A text's content in JSON notation, with `@` and line numbers if requested.
struct Shown: CustomStringConvertible, Equatable {
    let description: String

    init(_ node: YAMLNode?, lines: Bool = false) {
        description = node.map { Self.text(of: $0, lines) } ?? "null"
    }

    init(_ description: String) { self.description = description }

    private static func text(of node: YAMLNode, _ lines: Bool) -> String {
        // Readers disagree about the line of an absent value.
        if node.isNull { return "null" }
        let content =
            switch node.content {
            case .scalar(let scalar): quoted(scalar.string)
            case .sequence(let elements): "[\(elements.map { text(of: $0, lines) }.joined(separator: ","))]"
            case .mapping(let members):
                "{\(members.map { key($0, lines) + ":" + text(of: $0.value, lines) }.joined(separator: ","))}"
            }
        return lines ? "\(content)@\(node.line)" : content
    }

    private static func key(_ member: YAMLMember, _ lines: Bool) -> String {
        lines ? "\(quoted(member.name))@\(member.line)" : quoted(member.name)
    }

    /// Escapes everything but plain ASCII, so that no two texts look alike.
    static func quoted(_ text: String) -> String {
        "\"\(text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}

/// Why a text is rejected; `nil` if it is read.
func refusal(_ text: String) -> YAMLError? {
    do throws(YAMLError) {
        _ = try YAMLReader.read(text)
        return nil
    } catch {
        return error
    }
}
