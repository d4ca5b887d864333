internal import YAML

/// A reference to an environment variable, `${NAME}`, which other programs replace by its value when they read a file.
/// Settings are read as they are written, so a reference is a mistake.
enum VariableReference {
    /// Why a text is refused; `nil`: it has no reference.
    static func refusal(of text: some StringProtocol) -> String? {
        guard let reference = first(in: text) else { return nil }
        return
            "\(reference) is not expanded in this file: write the value itself, or leave the setting out and set it by its own environment variable, such as ASSAY_SERVICE_LISTEN for service.listen"
    }

    /// The first reference, as far as its name goes.
    private static func first(in text: some StringProtocol) -> String? {
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            rest = rest[start.upperBound...]
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            guard let first = name.first, !first.isNumber else { continue }
            return "${\(name)}"
        }
        return nil
    }
}

extension YAMLNode {
    /// Each line of the node that has a reference to an environment variable, with why it is refused.
    var variableReferences: [(line: Int, refusal: String)] {
        switch content {
        case .scalar(let scalar): VariableReference.refusal(of: scalar.string).map { [(line, $0)] } ?? []
        case .sequence(let elements): elements.flatMap(\.variableReferences)
        case .mapping(let members): members.flatMap(\.value.variableReferences)
        }
    }
}
