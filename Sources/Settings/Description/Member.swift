/// A setting or a section as a member of a mapping, and where its value is stored in `Root`.
///
/// To add a setting that is independent of others, add `Setting(…).at(…)` to the list of its section.
struct Member<Root>: Sendable {
    /// Empty for a check of earlier members; several if one reader reads several settings together.
    let descriptions: [SettingDescription]
    /// Reads it into `Root`. The last argument has the values that apply without the preset; `nil`: there is no preset.
    let read: @Sendable (Section, inout Root, Root?) -> Void
    /// The settings that differ between two values of `Root`, named relative to this section.
    var changes: @Sendable (Root, Root) -> [SettingChange] = { _, _ in [] }
}

extension Setting where Value: Equatable {
    /// The setting as a member whose value is stored at `path`. The initial value there is the default.
    func at<Root>(_ path: any WritableKeyPath<Root, Value> & Sendable) -> Member<Root> {
        Member(
            descriptions: [description],
            read: { section, root, usual in
                if let value = read(section) {
                    root[keyPath: path] = value
                } else {
                    let value = root[keyPath: path]
                    let isUsual = usual.map { $0[keyPath: path] == value } ?? true
                    section.record(name, shown(value), isUsual ? .default : section.preset)
                }
            }
        ).comparing(path)
    }

    /// The same for a setting without a default.
    func ifSet<Root>(_ path: any WritableKeyPath<Root, Value?> & Sendable) -> Member<Root> {
        Member(descriptions: [description], read: { section, root, _ in root[keyPath: path] = read(section) })
            .comparing(path)
    }
}

extension Member {
    /// Settings that one reader reads together; or, without descriptions, a check of earlier members.
    init(_ descriptions: [SettingDescription], read: @escaping @Sendable (Section, inout Root) -> Void) {
        self.init(descriptions: descriptions, read: { section, root, _ in read(section, &root) })
    }

    /// A section that one reader reads as a whole.
    init(
        section name: String, change: SettingDescription.Change = .reload, of settings: [SettingDescription],
        _ help: String, read: @escaping @Sendable (Section, inout Root) -> Void
    ) {
        self.init([SettingDescription(section: name, change: change, settings, help)], read: read)
    }

    /// A section.
    ///
    /// - Parameter check: runs after its members have been read.
    init(
        section name: String, _ members: [Member], _ help: String,
        check: @escaping @Sendable (Section, Root) -> Void = { _, _ in }
    ) {
        self.init(
            descriptions: [SettingDescription(section: name, members.flatMap(\.descriptions), help)],
            read: { section, root, usual in
                let own = section.section(name)
                for member in members { member.read(own, &root, usual) }
                check(own, root)
                own.finish()
            },
            changes: { root, other in
                members.flatMap { $0.changes(root, other) }
                    .map { SettingChange(name: "\(name).\($0.name)", when: $0.when) }
            })
    }

    /// A section, or in its place a word.
    ///
    /// - Parameters:
    ///   - word: a setting with the section's name.
    ///   - isWord: whether it must be the word.
    init<Value: Sendable>(
        section name: String, _ members: [Member], orWord word: Setting<Value>,
        at path: any WritableKeyPath<Root, Value?> & Sendable, if isWord: @escaping @Sendable (Root) -> Bool,
        _ help: String, check: @escaping @Sendable (Section, Root) -> Void
    ) {
        let asSection = Member(section: name, members, help, check: check)
        self.init(
            descriptions: [
                SettingDescription(
                    name: name, expected: "a mapping, or \(word.description.expected)",
                    form: .either(.section(members.flatMap(\.descriptions)), word.description.form), help: help)
            ],
            read: { section, root, usual in
                if !isWord(root) {
                    asSection.read(section, &root, usual)
                } else if !section.isFaulty(name) {
                    // Unless it is known to be the section.
                    root[keyPath: path] = word.read(section)
                }
            })
    }

    /// The same member, compared as a whole.
    func comparing<Value: Equatable & Sendable>(_ path: any KeyPath<Root, Value> & Sendable) -> Member {
        comparing { [descriptions] root, other in
            root[keyPath: path] == other[keyPath: path]
                ? [] : descriptions.map { SettingChange(name: $0.name, when: $0.change) }
        }
    }

    /// The same member, compared by `changes`.
    func comparing(_ changes: @escaping @Sendable (Root, Root) -> [SettingChange]) -> Member {
        var member = self
        member.changes = changes
        return member
    }

    /// The same member, in a larger value that contains `Root`.
    func within<Whole>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Member<Whole> {
        Member<Whole>(
            descriptions: descriptions,
            read: { section, whole, usual in read(section, &whole[keyPath: path], usual?[keyPath: path]) },
            changes: { changes($0[keyPath: path], $1[keyPath: path]) })
    }
}

/// A setting whose value has changed.
struct SettingChange: Sendable {
    /// As written in the file, such as `service.listen`.
    let name: String
    /// When the new value takes effect.
    let when: SettingDescription.Change
}

/// The single definition of a setting: its name, type and purpose.
struct Setting<Value: Sendable>: Sendable {
    let description: SettingDescription
    /// Reads it from its section; `nil` if it is not set, or if an error was reported.
    let read: @Sendable (Section) -> Value?
    /// The value as written in the file; `nil` if it counts as not set.
    let shown: @Sendable (Value) -> EffectiveSettings.Value?

    var name: String { description.name }

    /// A scalar.
    ///
    /// - Parameters:
    ///   - defaultDescription: the default in words, if no value expresses it.
    ///   - help: a sentence for the reference: what the setting does, with the unit.
    init(
        _ name: String, _ type: ValueType<Value>, defaultDescription: String? = nil, isRequired: Bool = false,
        change: SettingDescription.Change = .reload, _ help: String
    ) {
        description = SettingDescription(
            name: name, expected: type.file == nil ? type.expected : "a file", form: type.form, help: help,
            defaultDescription: defaultDescription,
            isRequired: isRequired, change: change)
        read = { $0.scalar(name, type) }
        shown = { value in
            let text = type.text(value)
            return text.isEmpty ? nil : .scalar(text)
        }
    }

    /// A list.
    ///
    /// - Parameters:
    ///   - refusesEmpty: the error text for an empty list, which follows the name; `nil` if it may be empty.
    ///   - word: a word that may replace the list. The reader must check for it.
    init<Element>(
        _ name: String, listOf type: ValueType<Element>, refusesEmpty: String? = nil, orWord word: String? = nil,
        defaultDescription: String? = nil, change: SettingDescription.Change = .reload, _ help: String
    ) where Value == [Element] {
        let form = ValueForm.list(of: type.form, isNeverEmpty: refusesEmpty != nil)
        description = SettingDescription(
            name: name,
            expected: "a list; each element: \(type.file == nil ? type.expected : "a file")"
                + (word.map { ". Or `\($0)`" } ?? ""),
            form: word.map { .either(form, .words([$0])) } ?? form, help: help, defaultDescription: defaultDescription,
            change: change)
        read = { section in
            let list = section.list(name, type)
            if let refusesEmpty, list?.isEmpty == true { section.refuse(name, "\(name) \(refusesEmpty)") }
            return list
        }
        shown = { $0.isEmpty ? nil : .list($0.map(type.text)) }
    }

    /// A setting whose type no ``ValueType`` describes.
    init(
        _ description: SettingDescription, read: @escaping @Sendable (Section) -> Value?,
        shown: @escaping @Sendable (Value) -> EffectiveSettings.Value?
    ) {
        self.description = description
        self.read = read
        self.shown = shown
    }
}

/// Describes a setting or a section for people and editors.
///
/// Used for the JSON Schema and the reference page. The path determines the environment variable.
struct SettingDescription: Sendable {
    let name: String
    /// What a value must be. Completes "must be …", also in errors.
    let expected: String
    let form: ValueForm
    let help: String
    /// The default in words, if no value expresses it.
    var defaultDescription: String?
    var isRequired = false
    var change = Change.reload

    /// When a changed value takes effect.
    enum Change: String, Sendable { case reload, restart }
}

extension SettingDescription {
    /// A section: a mapping with settings of its own.
    init(section name: String, change: Change = .reload, _ members: [SettingDescription], _ help: String) {
        self.init(name: name, expected: "a mapping", form: .section(members), help: help, change: change)
    }
}

/// The type of a value in YAML.
indirect enum ValueForm: Sendable {
    case text(pattern: String? = nil)
    case boolean
    case words([String])
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A number with a unit.
    case quantity(units: [String])
    case list(of: ValueForm, isNeverEmpty: Bool = false)
    case either(ValueForm, ValueForm)
    case section([SettingDescription])
    /// A mapping whose keys the operator chooses.
    case mapping(of: ValueForm)
}
