/// The effective settings, and where each comes from.
///
/// A ``Section`` records each setting that a reader requests, so no second list of settings is needed.
package struct EffectiveSettings: Sendable, Equatable {
    /// In the order in which they were first read.
    package private(set) var all: [Setting] = []
    private var indices: [[String]: Int] = [:]
    /// The lines of settings in a list's elements; the list is recorded as a whole.
    private var elementLines: [[String]: Int] = [:]

    /// The settings that are recorded.
    package enum Scope {
        case everything
        /// All but the providers': there may be thousands, and a running service needs none of them.
        case allButProviders
    }

    init(_ settings: [Setting] = []) {
        for setting in settings { record(setting) }
    }

    package struct Setting: Sendable, Equatable {
        /// `["providers", "apple", "clock_skew"]`.
        package let path: [String]
        /// `nil` if it is not set and has no default.
        package let value: Value?
        package let origin: Origin
        /// The purpose of the file that it names; `nil` if it names none.
        package let file: NamedFile.Purpose?
    }

    package enum Value: Sendable, Equatable {
        case scalar(String)
        case list([String])
        /// A list with elements other than strings, each in YAML's flow style.
        case flow([String])
    }

    package enum Origin: Sendable, Equatable {
        case line(Int)
        case variable(String)
        case preset(String)
        case `default`
        /// Derived from the process's memory limit, in bytes.
        case memory(Int)
        /// A preset's list, extended by the file or the environment.
        indirect case both(Origin, Origin)
    }

    /// The setting at a path; `nil` if it was not read.
    package subscript(path: [String]) -> Setting? { indices[path].map { all[$0] } }

    /// The text of an effective scalar.
    package func text(_ path: [String]) -> String? {
        if case .scalar(let text)? = self[path]?.value { text } else { nil }
    }

    /// The line of the file that sets a setting; `nil` if it is not set in the file.
    ///
    /// - Parameter path: may lead into an element of a list: `["providers", "apple", "clients", <ID>, "key_file"]`.
    package func line(of path: [String]) -> Int? {
        if case .line(let line)? = self[path]?.origin { line } else { elementLines[path] }
    }

    mutating func remove(where isRemoved: (Setting) -> Bool) {
        all.removeAll(where: isRemoved)
        indices = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.path, $0) })
    }

    mutating func recordElementLine(_ path: [String], _ line: Int) { elementLines[path] = line }

    mutating func record(_ setting: Setting) {
        if let index = indices[setting.path] {
            all[index] = setting
        } else {
            indices[setting.path] = all.count
            all.append(setting)
        }
    }
}

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

extension Settings {
    /// The settings that differ from a running service's and need a restart, such as listeners and the cache directory.
    ///
    /// - Returns: their names as written in the file, such as `service.listen`; empty if a reload is enough.
    package func changesThatNeedRestart(from running: Settings) -> [String] {
        allChanges(from: running).filter { $0.when == .restart }.map(\.name)
    }

    /// The settings that differ from a running service's, as written in the file. Added and removed providers are
    /// marked as such.
    package func changes(from running: Settings) -> [String] { allChanges(from: running).map(\.name) }

    private func allChanges(from running: Settings) -> [SettingChange] {
        Self.members.flatMap { $0.changes(self, running) }
    }
}
