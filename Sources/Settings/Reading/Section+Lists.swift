private import Bytes
internal import YAML

/// Lists. In the environment, elements are separated by commas.
extension Section {
    /// A list of scalars and, in the file, possibly mappings. Every invalid element is reported; the list then counts
    /// as not set.
    ///
    /// - Parameter mapping: reads an element that is a mapping, and reports its errors; `nil` if mappings are not
    ///   allowed.
    func list<Value>(
        _ name: String, _ type: ValueType<Value>, mapping: ((Section) -> Value?)? = nil
    ) -> [Value]? {
        // A key without a value is an error: it is probably a mistake, and treating it as unset could be insecure.
        guard let source = source(name, keepsNull: true) else {
            record(name, nil, .default)
            return nil
        }
        let shown: EffectiveSettings.Value
        let values: [Value?]
        switch source {
        case .variable(let variable, let text):
            let elements = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { String($0.trimming { $0 == " " }) }
            shown = .list(elements)
            values = elements.map { element in
                if let value = type.parse(element) { return value }
                reading.report(
                    path + [name], line: nil,
                    "each of \(variable), separated by commas, must be \(type.expected); found \(type.found(element))")
                return nil
            }
        case .node(let node):
            guard let elements = node.sequence else {
                let found = ErrorValueText.of(node, isSecret: type.isSecret)
                reading.report(path + [name], line: node.line, "\(name) must be a list; found \(found)")
                return nil
            }
            shown = EffectiveSettings.Value(elements)
            values = elements.map { element in
                if let mapping, element.mapping != nil {
                    return mapping(Section(element, path: path + [name], isElement: true, reading))
                }
                if let text = element.scalar?.string, !element.isNull, let value = type.parse(text) { return value }
                reading.report(
                    path + [name], line: element.line,
                    "each of \(name) must be \(type.expected); found \(type.found(element))")
                return nil
            }
        }
        let good = values.compactMap { $0 }
        guard good.count == values.count else { return nil }
        record(name, shown, source.origin)
        for value in good { noteFile(name, type.file, type.text(value)) }
        return good
    }

    /// A list of mappings.
    ///
    /// - Parameters:
    ///   - expected: what an element must be. Completes "must be …".
    ///   - read: reads an element, and reports its errors.
    func mappings<Value: Sendable>(
        _ name: String, expected: String, read: @escaping (Section) -> Value?
    ) -> [Value]? {
        let noScalar = ValueType<Value>(
            expected: expected, form: .section([]), parse: { _ in nil }, text: { _ in "" })
        return list(name, noScalar, mapping: read)
    }

    /// A mapping whose keys the operator chooses, each with a string or a list of strings.
    func namedTexts(_ name: String) -> [(name: String, texts: [String])] {
        freeMembers(name).map { member in
            var texts: [String] = []
            for element in member.value.sequence ?? [member.value] {
                if let scalar = element.scalar, !element.isNull {
                    texts.append(scalar.string)
                } else {
                    reading.report(
                        path + [name], line: element.line,
                        "\(member.name) must be a value or a list of values; found \(ErrorValueText.of(element))")
                }
            }
            reading.record(path + [name, member.name], .list(texts), .line(member.line))
            return (member.name, texts)
        }
    }
}

extension EffectiveSettings.Value {
    fileprivate init(_ elements: [YAMLNode]) {
        let texts = elements.compactMap(\.scalar?.string)
        self = texts.count == elements.count ? .list(texts) : .flow(elements.map(\.flow))
    }
}

extension YAMLNode {
    /// The node in YAML's flow style.
    fileprivate var flow: String {
        switch content {
        case .scalar(let scalar): isNull ? "null" : YAMLText.scalar(scalar.string)
        case .sequence(let elements): "[\(elements.map(\.flow).joined(separator: ", "))]"
        case .mapping(let members):
            "{ \(members.map { "\(YAMLText.scalar($0.name)): \($0.value.flow)" }.joined(separator: ", ")) }"
        }
    }
}
