private import Bytes

/// A mapping of the settings file, read member by member. The environment can override each member.
///
/// A reader requests every member it knows, and then calls ``finish()``, which reports all other members: a misspelled
/// key must not count as unset. Errors are reported to the ``SettingsReading``, and reading continues as if the member
/// were not set.
final class Section {
    private let members: [YAMLMember]
    let reading: SettingsReading
    /// The path of this section. Determines the environment variables of its members.
    let path: [String]
    /// Whether it is an element of a list. Its members then have no environment variables.
    private let isElement: Bool
    /// The line on which the section begins.
    let line: Int?
    /// The preset that provides defaults.
    let preset: EffectiveSettings.Origin
    private var known: Set<String> = []
    private var missing: [(name: String, message: String)] = []
    private var remarks: [String: (text: String, causes: Set<String>)] = [:]

    /// - Parameter node: a mapping; `nil` if the section is absent. Its members may still come from the environment.
    init(
        _ node: YAMLNode?, path: [String], isElement: Bool = false, preset: EffectiveSettings.Origin = .default,
        _ reading: SettingsReading
    ) {
        line = node?.line
        self.preset = preset
        self.reading = reading
        self.path = path
        self.isElement = isElement
        if !isElement, !path.isEmpty { reading.variables.noteMapping(path) }
        guard let node, !node.isNull else {
            members = []
            return
        }
        members = node.mapping ?? []
        if node.mapping == nil {
            reading.report(
                path, line: node.line, "found \(ErrorValueText.of(node)); expected a mapping (key: value)")
        }
    }

    // MARK: Members

    /// A member's value and its source.
    enum Source {
        case variable(String, text: String)
        case node(YAMLNode)

        var origin: EffectiveSettings.Origin {
            switch self {
            case .variable(let name, _): .variable(name)
            case .node(let node): .line(node.line)
            }
        }

        /// `nil` if it is no scalar.
        var text: String? {
            switch self {
            case .variable(_, let text): text
            case .node(let node): node.scalar?.string
            }
        }
    }

    /// A member, from the environment if it is set there.
    ///
    /// - Parameter keepsNull: whether a key without a value counts as present.
    func source(_ name: String, keepsNull: Bool = false) -> Source? {
        known.insert(name)
        if !isElement, let (variable, text) = reading.variables.value(path + [name]) {
            return .variable(variable, text: text)
        }
        guard let node = members.first(where: { $0.name == name })?.value, keepsNull || !node.isNull else { return nil }
        return .node(node)
    }

    /// Where a member's value comes from.
    func origin(of name: String) -> EffectiveSettings.Origin { source(name)?.origin ?? .default }

    /// The text of a scalar member, whether or not it has been read.
    func scalarText(_ name: String) -> String? { source(name)?.text }

    /// A member that can't be set by an environment variable.
    func node(_ name: String) -> YAMLNode? {
        known.insert(name)
        return members.first { $0.name == name && !$0.value.isNull }?.value
    }

    /// Whether the file contains a member, even without a value.
    func mentions(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// A nested mapping. It exists even if the file has none, because the environment may set its members.
    func section(_ name: String) -> Section {
        Section(node(name), path: path + [name], isElement: isElement, preset: preset, reading)
    }

    /// A list of mappings. Only the file can have one.
    func elements(_ name: String) -> [YAMLNode] {
        if !isElement { reading.variables.noteMapping(path + [name]) }
        guard let node = node(name) else { return [] }
        if node.sequence == nil {
            reading.report(path + [name], line: node.line, "\(name) must be a list; found \(ErrorValueText.of(node))")
        }
        return node.sequence ?? []
    }

    /// The members of a mapping whose keys the operator chooses. Only the file can have one.
    func freeMembers(_ name: String) -> [YAMLMember] {
        if case .variable(let variable, _)? = source(name) {
            reading.report(path + [name], line: nil, EnvironmentVariables.refusal(ofMapping: variable))
        }
        return section(name).members
    }

    /// Records the effective value of a member. A list is recorded as a whole.
    ///
    /// - Parameter file: the purpose of the file that it names.
    func record(
        _ name: String, _ value: @autoclosure () -> EffectiveSettings.Value?, _ origin: EffectiveSettings.Origin,
        file: NamedFile.Purpose? = nil
    ) {
        guard !isElement, reading.records(path) else { return }
        reading.record(path + [name], value(), origin, file: file)
    }

    /// Adds a file to those that the settings name.
    ///
    /// - Parameter purpose: `nil` if the member names no file.
    func noteFile(_ name: String, _ purpose: NamedFile.Purpose?, _ file: String) {
        guard let purpose else { return }
        reading.files.append(NamedFile(setting: NamedFile.name(ofSetting: path + [name]), purpose, path: file))
    }

    /// Records the lines of members of a list's element.
    ///
    /// - Parameter id: identifies the element.
    func recordLines(_ names: [String], ofElement id: String) {
        for name in names {
            guard let node = node(name) else { continue }
            reading.recordElementLine(path + [id, name], node.line)
        }
    }

    /// What has been recorded for a member so far.
    func effective(_ name: String) -> EffectiveSettings.Setting? { reading.effective[path + [name]] }

    /// Records a preset's value for a setting, unless the file or the environment overrides it.
    func recordPreset<Value>(_ setting: Setting<Value>, _ value: Value) {
        if source(setting.name) == nil { record(setting.name, setting.shown(value), preset) }
    }

    /// The given value; otherwise `other`, which is recorded as the effective value.
    func given<Value>(
        _ value: Value?, _ setting: Setting<Value>, else other: Value, _ origin: EffectiveSettings.Origin = .default
    ) -> Value {
        if let value { return value }
        record(setting.name, setting.shown(other), origin)
        return other
    }

    /// Whether any of these members is set, in the file or by an environment variable.
    func hasAny<Root>(of members: [Member<Root>]) -> Bool {
        members.flatMap(\.descriptions).contains { source($0.name) != nil }
    }

    /// Disabled settings have no effective defaults.
    func recordNoDefaults<Root>(of members: [Member<Root>]) {
        for description in members.flatMap(\.descriptions) { record(description.name, nil, .default) }
    }

    // MARK: Faults

    /// Reports an error in a member, unless one has been reported for it already.
    ///
    /// - Parameters:
    ///   - name: `nil`: the error is in the section as a whole.
    ///   - isWrong: whether there is an error.
    func refuse(_ name: String?, if isWrong: Bool = true, _ message: @autoclosure () -> String) {
        guard isWrong else { return }
        guard let name else { return reading.report(nil, line: line, message()) }
        if !isFaulty(name) { reading.report(path + [name], line: line(of: name), message()) }
    }

    /// Reports that a required member is missing.
    ///
    /// The report is deferred to ``finish()``, which drops it if a misspelled member was probably meant to be this one.
    func refuseMissing(_ name: String, if isMissing: Bool = true, _ message: @autoclosure () -> String) {
        if isMissing, !isFaulty(name) { missing.append((name, message())) }
    }

    /// Reports each of these members that is set.
    ///
    /// - Parameter reason: follows the member's name.
    func refuse(_ names: [String], _ reason: String) {
        for name in names where source(name) != nil { refuse(name, "\(name) \(reason)") }
    }

    /// Reports each of these members that is not set.
    func require(_ names: [String], _ message: String) {
        for name in names where source(name) == nil { refuseMissing(name, message) }
    }

    /// Whether an error was reported for a member or anything in it. Its value, or its absence, must then be ignored.
    func isFaulty(_ name: String) -> Bool { reading.isFaulty(path + [name]) }

    /// The line of a member, or else of its section; `nil` if an environment variable sets it.
    func line(of name: String) -> Int? {
        if case .variable? = source(name) { return nil }
        return node(name)?.line ?? line
    }

    /// Sets what the report of a member says if this section does not know it.
    ///
    /// - Parameter causes: members whose absence follows from it.
    func remark(_ text: String, ifUnknown name: String, causingAbsence causes: Set<String>) {
        remarks[name] = (text, causes)
    }

    /// Reports members that were not requested.
    func finish() {
        var meant: Set<String> = []
        for member in members where !known.contains(member.name) {
            let remark = remarks[member.name]
            meant.formUnion(remark?.causes ?? [])
            var message = "unknown setting \(member.name)" + (remark.map { "; \($0.text)" } ?? "")
            if let nearest = Suggestion.nearest(to: member.name, among: known.sorted()) {
                meant.insert(nearest)
                message += "; did you mean \(nearest)?"
            } else if remark == nil {
                message += "; known settings: \(known.sorted().joined(separator: ", "))"
            }
            reading.report(path + [member.name], line: member.line, message)
        }
        for (name, message) in missing where !meant.contains(name) {
            reading.reportMissing(path + [name], line: line, message)
        }
    }
}

extension Section {
    /// Reads a scalar, and records its value as the effective one.
    ///
    /// - Returns: `nil` if it is not set, or if an error was reported.
    func scalar<Value>(_ name: String, _ type: ValueType<Value>) -> Value? {
        guard let source = source(name) else {
            record(name, nil, .default)
            return nil
        }
        if let text = source.text, let value = type.parse(text) {
            record(name, .scalar(text), source.origin, file: type.file)
            noteFile(name, type.file, text)
            return value
        }
        switch source {
        case .variable(let variable, let text):
            reading.report(
                path + [name], line: nil, "\(variable) must be \(type.expected); found \(type.found(text))")
        case .node(let node):
            reading.report(
                path + [name], line: node.line, "\(name) must be \(type.expected); found \(type.found(node))")
        }
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
        let elements: [(node: YAMLNode, line: Int?)]
        let all: String
        switch source {
        case .variable(let variable, let text):
            all = "\(variable), separated by commas,"
            elements = text.split(separator: ",", omittingEmptySubsequences: false).map { element in
                // Not plain, because every text of the environment is a string, even `null`.
                let scalar = YAMLNode.Scalar(string: String(element.trimming { $0 == " " }), isPlain: false)
                return (YAMLNode(content: .scalar(scalar), line: 0), nil)
            }
        case .node(let node):
            guard let sequence = node.sequence else {
                let found = ErrorValueText.of(node, isSecret: type.isSecret)
                reading.report(path + [name], line: node.line, "\(name) must be a list; found \(found)")
                return nil
            }
            all = name
            elements = sequence.map { ($0, $0.line) }
        }
        let values = elements.map { element, line -> Value? in
            if let mapping, element.mapping != nil {
                return mapping(Section(element, path: path + [name], isElement: true, reading))
            }
            if let text = element.scalar?.string, !element.isNull, let value = type.parse(text) { return value }
            reading.report(
                path + [name], line: line, "each of \(all) must be \(type.expected); found \(type.found(element))")
            return nil
        }
        let good = values.compactMap { $0 }
        guard good.count == values.count else { return nil }
        record(name, EffectiveSettings.Value(elements.map(\.node)), source.origin)
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
