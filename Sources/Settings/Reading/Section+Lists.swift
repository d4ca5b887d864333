internal import YAML

/// Lists. In the environment, the elements are separated by commas.
extension Section {
    /// A list of scalars, each read by `read`. Every element at fault is reported, and the list is then as good as unset.
    ///
    /// - Parameters:
    ///   - expected: what each element must be, for the error.
    ///   - words: the words it may be, to suggest the nearest.
    ///   - isSecret: whether an element must not appear in an error.
    func list<Value>(
        _ name: String, _ expected: String, words: [String] = [], isSecret: Bool = false, _ read: (String) -> Value?
    ) -> [Value]? {
        mixedList(name, expected, words: words, isSecret: isSecret, scalar: read, mapping: nil)
    }

    /// A list of scalars and, if the file has them, mappings.
    ///
    /// - Parameter mapping: reads an element that is a mapping, and reports what is wrong with it; `nil`: no element may
    ///   be one.
    func mixedList<Value>(
        _ name: String, _ expected: String, words: [String] = [], isSecret: Bool = false,
        scalar read: (String) -> Value?, mapping: ((Section) -> Value?)?
    ) -> [Value]? {
        // A list with nothing behind its name is a slip, and what it would leave open is not for us to guess.
        switch source(name, keepsNull: true) {
        case nil:
            record(name, nil, .standard)
            return nil
        case .variable(let variable, let text)?:
            let elements = text.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
            return all(name, elements) { element in
                if let value = read(element) { return value }
                let found = FoundText.of(element, isSecret: isSecret) + Self.suggestion(element, words)
                reading.report(
                    path + [name], line: nil,
                    "each of \(variable), separated by commas, must be \(expected); found \(found)")
                return nil
            } shown: {
                .list(elements)
            } origin: {
                .variable(variable)
            }
        case .node(let node)?:
            guard let elements = node.sequence else {
                let found = FoundText.of(node, isSecret: isSecret)
                reading.report(path + [name], line: node.line, "\(name) must be a list; found \(found)")
                return nil
            }
            return all(name, elements) { element in
                if let mapping, element.mapping != nil {
                    return mapping(Section(element, path: path + [name], isElement: true, reading))
                }
                if let scalar = element.scalar, !element.isNull, let value = read(scalar.string) {
                    return value
                }
                let found =
                    FoundText.of(element, isSecret: isSecret) + Self.suggestion(element.scalar?.string ?? "", words)
                reading.report(
                    path + [name], line: element.line, "each of \(name) must be \(expected); found \(found)")
                return nil
            } shown: {
                EffectiveSettings.Value(elements)
            } origin: {
                .line(node.line)
            }
        }
    }

    /// Reads every element, the others of a faulty one too.
    private func all<Element, Value>(
        _ name: String, _ elements: [Element], _ read: (Element) -> Value?,
        shown: () -> EffectiveSettings.Value, origin: () -> EffectiveSettings.Origin
    ) -> [Value]? {
        let values = elements.map(read)
        let good = values.compactMap { $0 }
        guard good.count == values.count else { return nil }
        record(name, shown(), origin())
        return good
    }

    func texts(_ name: String) -> [String]? {
        list(name, "a text") { $0.isEmpty ? nil : $0 }
    }

    func texts(
        _ name: String, default usual: [String], from origin: EffectiveSettings.Origin = .standard
    ) -> [String] {
        texts(name) ?? otherwise(name, usual, shown: usual, from: origin)
    }

    /// Records a default as the value in effect; an empty list as none.
    @discardableResult
    func otherwise<Value>(
        _ name: String, _ value: Value, shown: [String], from origin: EffectiveSettings.Origin = .standard
    ) -> Value {
        record(name, shown.isEmpty ? nil : .list(shown), origin)
        return value
    }

    /// Whether a member that may be a list is this word instead.
    func isWord(_ word: String, _ name: String) -> Bool {
        switch source(name) {
        case .variable(let variable, let text)?:
            guard text == word else { return false }
            record(name, .scalar(word), .variable(variable))
        case .node(let node)?:
            guard node.scalar?.string == word else { return false }
            record(name, .scalar(word), .line(node.line))
        case nil: return false
        }
        return true
    }

    /// A mapping whose names nobody knows beforehand, each with a text or a list of texts.
    ///
    /// - Parameter expected: what each of it must be, for the error.
    func namedTexts(_ name: String, _ expected: String) -> [(name: String, texts: [String])] {
        freeMembers(name).map { member in
            var texts: [String] = []
            for element in member.value.sequence ?? [member.value] {
                if let scalar = element.scalar, !element.isNull {
                    texts.append(scalar.string)
                } else {
                    reading.report(
                        path + [name], line: element.line,
                        "\(member.name) must be \(expected); found \(FoundText.of(element))")
                }
            }
            reading.record(path + [name, member.name], .list(texts), .line(member.line))
            return (member.name, texts)
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
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
