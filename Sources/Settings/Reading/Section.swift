internal import YAML

/// A mapping of the settings file that is read member by member, each of which the environment may override.
///
/// A reader asks for every member it knows and calls ``finish()`` at the end, which reports the members that nobody asked
/// for: a misspelt key must not pass as an unset one. Faults are reported to the ``SettingsReading``, and reading goes on
/// as if the member were not set.
final class Section {
    private let members: [YAMLMember]
    let reading: SettingsReading
    /// The names that lead here; they make the names of the environment variables that override this section's members.
    let path: [String]
    /// Whether it is an element of a list, whose members no environment variable can name.
    private let isElement: Bool
    /// Where the section begins.
    let line: Int?
    /// Where defaults come from that differ from the usual ones.
    let preset: EffectiveSettings.Origin
    private var known: Set<String> = []
    private var missing: [(name: String, message: String)] = []

    /// - Parameter node: a mapping; `nil` for a section that is not there, whose members may still come from the environment.
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
                path, line: node.line, "a mapping (key: value) is expected here; found \(ErrorValueText.of(node))")
        }
    }

    /// Whether two names make the same environment variable.
    static func share(_ one: String, _ other: String) -> Bool {
        EnvironmentVariables.part(one) == EnvironmentVariables.part(other)
    }

    // MARK: Members

    /// What a member says, and where.
    enum Source {
        case variable(String, text: String)
        case node(YAMLNode)

        var origin: EffectiveSettings.Origin {
            switch self {
            case .variable(let name, _): .variable(name)
            case .node(let node): .line(node.line)
            }
        }
    }

    /// A member, from the environment if it is set there.
    ///
    /// - Parameter keepsNull: whether a key with nothing behind it counts as written.
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

    /// What a member says as a scalar, read or not.
    func scalarText(_ name: String) -> String? {
        switch source(name) {
        case .variable(_, let text)?: text
        case .node(let node)?: node.scalar?.string
        case nil: nil
        }
    }

    /// A member that no environment variable can set.
    func node(_ name: String) -> YAMLNode? {
        known.insert(name)
        return members.first { $0.name == name && !$0.value.isNull }?.value
    }

    /// Whether a member is written, be there anything behind its name or not.
    func mentions(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// A mapping within this one; there even where the file has none, since the environment may fill it.
    func section(_ name: String) -> Section {
        Section(node(name), path: path + [name], isElement: isElement, preset: preset, reading)
    }

    /// The mappings of a list, which only the file can have.
    func elements(_ name: String) -> [YAMLNode] {
        if !isElement { reading.variables.noteMapping(path + [name]) }
        guard let node = node(name) else { return [] }
        if node.sequence == nil {
            reading.report(path + [name], line: node.line, "\(name) must be a list; found \(ErrorValueText.of(node))")
        }
        return node.sequence ?? []
    }

    /// The members of a mapping whose names are not known beforehand, and which only the file can have.
    func freeMembers(_ name: String) -> [YAMLMember] {
        if case .variable(let variable, _)? = source(name) {
            reading.report(path + [name], line: nil, EnvironmentVariables.refusal(ofMapping: variable))
        }
        return section(name).members
    }

    /// Records the value that a member has in effect. A list's elements are recorded as one, by the list.
    ///
    /// - Parameter file: the purpose of the file that it names.
    func record(
        _ name: String, _ value: EffectiveSettings.Value?, _ origin: EffectiveSettings.Origin, file: NamedFile? = nil
    ) {
        if !isElement { reading.record(path + [name], value, origin, file: file) }
    }

    /// What is recorded of a member so far.
    func effective(_ name: String) -> EffectiveSettings.Setting? { reading.effective[path + [name]] }

    /// Records what a preset says of a setting, unless the file or the environment says something else.
    func recordPreset<Value>(_ setting: Setting<Value>, _ value: Value) {
        if source(setting.name) == nil { record(setting.name, setting.shown(value), preset) }
    }

    // MARK: Faults

    /// Reports a fault at a member's place, unless one was found in it before; `nil`: of the section as a whole.
    func refuse(_ name: String?, _ message: String) {
        guard let name else {
            reading.report(nil, line: line, message)
            return
        }
        guard !isFaulty(name) else { return }
        reading.report(path + [name], line: self.line(of: name), message)
    }

    /// Reports that a member must be there and is not.
    ///
    /// ``finish()`` does so, and only if no misspelt member was probably meant to be this one.
    func refuseMissing(_ name: String, _ message: String) {
        if !isFaulty(name) { missing.append((name, message)) }
    }

    /// Whether a fault was found in a member or within it: its value, or that it has none, then means nothing.
    func isFaulty(_ name: String) -> Bool { reading.isFaulty(path + [name]) }

    /// The line of a member, or else of the section; `nil` where an environment variable sets it.
    func line(of name: String) -> Int? {
        if case .variable? = source(name) { return nil }
        return node(name)?.line ?? line
    }

    /// Reports members that nobody has asked for.
    func finish() {
        var meant: Set<String> = []
        for member in members where !known.contains(member.name) {
            var message = "\(member.name) is not known here"
            if let nearest = Suggestion.nearest(to: member.name, among: known.sorted()) {
                meant.insert(nearest)
                message += "; did you mean \(nearest)?"
            } else {
                message += "; these are: \(known.sorted().joined(separator: ", "))"
            }
            reading.report(path + [member.name], line: member.line, message)
        }
        for (name, message) in missing where !meant.contains(name) {
            reading.reportMissing(path + [name], line: line, message)
        }
    }
}
