private import YAML

extension EffectiveSettings {
    /// A settings file with the same effect, with comments that say where each setting comes from.
    ///
    /// Settings that are not set are commented out. Credentials in URLs are masked.
    ///
    /// - Parameter namesOrigins: whether to add the comments.
    package func yaml(namesOrigins: Bool = true) -> String {
        var tree = Tree()
        for setting in all { tree.add(setting, at: setting.path[...]) }
        let lines = tree.lines(indentation: 0, isList: false)
        guard namesOrigins else { return lines.map { $0.text + "\n" }.joined() }
        // Align comments, except on long lines.
        let column = lines.map { $0.comment == nil ? 0 : $0.text.count }.filter { $0 <= 60 }.max() ?? 0
        return lines.map { line in
            guard let comment = line.comment else { return line.text + "\n" }
            let padding = String(repeating: " ", count: max(0, column - line.text.count))
            return "\(line.text)\(padding)  # \(comment)\n"
        }.joined()
    }
}

/// Settings, grouped by section.
private struct Tree {
    private var setting: EffectiveSettings.Setting?
    private var names: [String] = []
    private var members: [String: Tree] = [:]

    struct Line {
        let text: String
        var comment: String?
    }

    private var isSet: Bool { setting?.value != nil || members.values.contains(where: \.isSet) }

    mutating func add(_ setting: EffectiveSettings.Setting, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self.setting = setting
            return
        }
        if members[name] == nil { names.append(name) }
        members[name, default: Tree()].add(setting, at: path.dropFirst())
    }

    /// - Parameter isList: whether the members are elements of a list, which have no keys.
    func lines(indentation: Int, isList: Bool) -> [Line] {
        names.flatMap { name -> [Line] in
            guard let member = members[name] else { return [] }
            return isList
                ? member.element(indentation: indentation) : member.lines(name, indentation: indentation)
        }
    }

    private func element(indentation: Int) -> [Line] {
        var lines = lines(indentation: indentation + 2, isList: false)
        if let first = lines.first {
            lines[0] = Line(
                text: Self.indent(indentation) + "- " + first.text.dropFirst(indentation + 2), comment: first.comment)
        }
        return lines
    }

    private func lines(_ name: String, indentation: Int) -> [Line] {
        let start = Self.indent(indentation)
        let key = YAMLText.scalar(name)
        guard isSet else { return [Line(text: "\(start)# \(key): not set")] }
        guard let setting, let value = setting.value else {
            return [Line(text: "\(start)\(key):")]
                + lines(indentation: indentation + 2, isList: name == "providers" && indentation == 0)
        }
        switch value {
        case .scalar(let text):
            return [Line(text: "\(start)\(key): \(Self.scalar(text))", comment: setting.origin.text)]
        case .list(let texts): return Self.list(start, key, texts.map(Self.scalar), setting.origin)
        case .flow(let texts): return Self.list(start, key, texts, setting.origin)
        }
    }

    /// A list on one line, if it is short.
    private static func list(
        _ start: String, _ key: String, _ elements: [String], _ origin: EffectiveSettings.Origin
    ) -> [Line] {
        let line = "\(start)\(key): [\(elements.joined(separator: ", "))]"
        guard line.count > 100 else { return [Line(text: line, comment: origin.text)] }
        return [Line(text: "\(start)\(key):", comment: origin.text)]
            + elements.map { Line(text: "\(start)  - \($0)") }
    }

    private static func scalar(_ text: String) -> String {
        let masked = ErrorValueText.maskingCredentials(text)
        // Numbers, quantities, addresses and plain words need no quotes.
        return YAMLText.setting(masked)
    }

    private static func indent(_ count: Int) -> String { String(repeating: " ", count: count) }
}

extension EffectiveSettings.Origin {
    /// The text of the comment.
    fileprivate var text: String {
        switch self {
        case .line(let line): "line \(line)"
        case .variable(let name): name
        case .preset(let name): "preset \(name)"
        case .default: "default"
        case .memory(let bytes): "default under the memory limit of \(Quantities.text(bytes: bytes))"
        case .both(let one, let other): "\(one.text) and \(other.text)"
        }
    }
}
