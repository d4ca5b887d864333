/// A setting or a section as a member of a mapping, and where its value is stored in `Root`.
///
/// To add a setting that is independent of others, add a `Member` to the list of its section. The default is the
/// initial value of `Root` at the key path.
struct Member<Root>: Sendable {
    /// Empty for a check of earlier members; several if one reader reads several settings together.
    let descriptions: [SettingDescription]
    /// Reads it into `Root`. The last argument has the values that apply without the preset; `nil`: there is no preset.
    let read: @Sendable (Section, inout Root, Root?) -> Void
    /// The settings that differ between two values of `Root`, named relative to this section.
    private(set) var changes: @Sendable (Root, Root) -> [SettingChange] = { _, _ in [] }

    /// A setting, and where its value is stored.
    init<Value: Equatable & Sendable>(_ setting: Setting<Value>, at path: any WritableKeyPath<Root, Value> & Sendable) {
        descriptions = [setting.description]
        read = { section, root, usual in
            if let value = setting.read(section) {
                root[keyPath: path] = value
            } else {
                let value = root[keyPath: path]
                let isUsual = usual.map { $0[keyPath: path] == value } ?? true
                section.record(setting.name, setting.shown(value), isUsual ? .default : section.preset)
            }
        }
        compare(path, as: setting.name, setting.description.change)
    }

    /// A setting without a default.
    init<Value: Equatable & Sendable>(
        _ setting: Setting<Value>, ifSet path: any WritableKeyPath<Root, Value?> & Sendable
    ) {
        descriptions = [setting.description]
        read = { section, root, _ in root[keyPath: path] = setting.read(section) }
        compare(path, as: setting.name, setting.description.change)
    }

    /// Settings that one reader reads together; or, without descriptions, a check of earlier members.
    init(_ descriptions: [SettingDescription], read: @escaping @Sendable (Section, inout Root) -> Void) {
        self.descriptions = descriptions
        self.read = { section, root, _ in read(section, &root) }
    }

    /// A section.
    ///
    /// - Parameter check: runs after its members have been read.
    init(
        section name: String, _ members: [Member], _ help: String,
        check: @escaping @Sendable (Section, Root) -> Void = { _, _ in }
    ) {
        descriptions = [SettingDescription(section: name, members.flatMap(\.descriptions), help)]
        read = { section, root, usual in
            let own = section.section(name)
            for member in members { member.read(own, &root, usual) }
            check(own, root)
            own.finish()
        }
        changes = { root, other in
            members.flatMap { $0.changes(root, other) }.map { SettingChange(name: "\(name).\($0.name)", when: $0.when) }
        }
    }

    private mutating func compare<Value: Equatable & Sendable>(
        _ path: any KeyPath<Root, Value> & Sendable, as name: String, _ when: SettingDescription.Change
    ) {
        changes = { root, other in
            root[keyPath: path] == other[keyPath: path] ? [] : [SettingChange(name: name, when: when)]
        }
    }

    /// The same member, compared as a whole.
    func comparing<Value: Equatable & Sendable>(_ path: any KeyPath<Root, Value> & Sendable) -> Member {
        guard let description = descriptions.first else { return self }
        var member = self
        member.compare(path, as: description.name, description.change)
        return member
    }

    /// The same member, compared by `changes`.
    func comparing(_ changes: @escaping @Sendable (Root, Root) -> [SettingChange]) -> Member {
        var member = self
        member.changes = changes
        return member
    }

    private init<Part>(_ member: Member<Part>, at path: any WritableKeyPath<Root, Part> & Sendable) {
        descriptions = member.descriptions
        read = { section, root, usual in member.read(section, &root[keyPath: path], usual?[keyPath: path]) }
        changes = { root, other in member.changes(root[keyPath: path], other[keyPath: path]) }
    }

    /// The same member, in a larger value that contains `Root`.
    func within<Whole>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Member<Whole> {
        Member<Whole>(self, at: path)
    }
}

/// A setting whose value has changed.
struct SettingChange: Sendable {
    /// As written in the file, such as `service.listen`.
    let name: String
    /// When the new value takes effect.
    let when: SettingDescription.Change
}
