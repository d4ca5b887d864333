import YAML

/// What a text says, in the notation of JSON; with `@` and the line where lines are wanted.
struct Shown: CustomStringConvertible, Equatable {
    let description: String

    init(_ node: YAMLNode?, lines: Bool = false) {
        description = node.map { Self.text(of: $0, lines) } ?? "null"
    }

    init(_ description: String) { self.description = description }

    private static func text(of node: YAMLNode, _ lines: Bool) -> String {
        // Of what is not there, readers don't agree where it is not.
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

    /// Each character that is no plain ASCII as its number, so that no two texts look alike.
    static func quoted(_ text: String) -> String {
        "\"\(text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
    }
}

/// Why a text is refused; `nil` where it is read.
func refusal(_ text: String) -> YAMLError? {
    do throws(YAMLError) {
        _ = try YAMLReader.read(text)
        return nil
    } catch {
        return error
    }
}
