private import Bytes
internal import YAML

extension Section {
    /// Reads a scalar, and records its value as the effective one.
    ///
    /// - Returns: `nil` if it is not set, or if an error was reported.
    func scalar<Value>(_ name: String, _ type: ValueType<Value>) -> Value? {
        let fault: (line: Int?, name: String, found: String)
        switch source(name) {
        case nil:
            record(name, nil, .default)
            return nil
        case .variable(let variable, let text)?:
            if let value = type.parse(text) {
                record(name, .scalar(text), .variable(variable), file: type.file)
                noteFile(name, type.file, text)
                return value
            }
            fault = (nil, variable, type.found(text))
        case .node(let node)?:
            if let text = node.scalar?.string, let value = type.parse(text) {
                record(name, .scalar(text), .line(node.line), file: type.file)
                noteFile(name, type.file, text)
                return value
            }
            fault = (node.line, name, type.found(node))
        }
        reading.report(path + [name], line: fault.line, "\(fault.name) must be \(type.expected); found \(fault.found)")
        return nil
    }

    /// Whether this word is set in place of a list.
    func isWord(_ word: String, _ name: String) -> Bool {
        guard let source = source(name), scalarText(name) == word else { return false }
        record(name, .scalar(word), source.origin)
        return true
    }
}

extension ValueType {
    /// A description of an invalid value, with a remedy or a suggestion.
    func found(_ text: String) -> String { ErrorValueText.of(text, isSecret: isSecret) + advice(text) }

    func found(_ node: YAMLNode) -> String {
        ErrorValueText.of(node, isSecret: isSecret) + advice(node.scalar?.string ?? "")
    }

    private func advice(_ text: String) -> String {
        if let remedy = remedy(text) { return "; " + remedy }
        return Suggestion.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
    }
}
