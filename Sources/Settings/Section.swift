/// A mapping of the settings file that is read member by member, each of which the environment may override.
///
/// Whoever reads one calls ``finish()`` at the end, which refuses what nobody asked for: a misspelt key must not pass as an
/// unset one.
final class Section {
    private let members: [YAMLMember]
    private let environment: [String: String]
    /// The names that lead here; they make the names of the environment variables that override this section's scalars.
    private let path: [String]
    /// Where the section begins.
    let line: Int?
    private var known: Set<String> = []

    /// - Parameter node: a mapping; `nil` for a section that is not there, whose members may still come from the environment.
    init(_ node: YAMLNode?, path: [String], _ environment: [String: String]) throws(SettingsError) {
        line = node?.line
        self.environment = environment
        self.path = path
        guard let node, !node.isNull else {
            members = []
            return
        }
        guard let mapping = node.mapping else {
            throw SettingsError(line: node.line, message: "a mapping (key: value) is expected here")
        }
        members = mapping
    }

    /// `assay.oidc-example` as it appears in the name of an environment variable: `ASSAY_OIDC_EXAMPLE`.
    private static func variableName(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? Character($0.uppercased()) : "_" })
    }

    /// Whether two names make the same environment variable.
    static func share(_ one: String, _ other: String) -> Bool { variableName(one) == variableName(other) }

    /// A scalar read by `read`, from the environment if it is set there.
    ///
    /// - Parameter expected: what the value must be, for the error.
    func scalar<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(SettingsError) -> Value? {
        known.insert(name)
        let variable = (["ASSAY"] + path + [name]).map(Self.variableName).joined(separator: "_")
        if let text = environment[variable] {
            guard let value = read(text) else {
                throw SettingsError(line: nil, message: "\(variable) must be \(expected)")
            }
            return value
        }
        guard let node = node(name) else { return nil }
        guard let scalar = node.scalar, let value = read(scalar.string) else {
            throw SettingsError(line: node.line, message: "\(name) must be \(expected)")
        }
        return value
    }

    func text(_ name: String) throws(SettingsError) -> String? {
        try scalar(name, "a text") { $0.isEmpty ? nil : $0 }
    }

    func bool(_ name: String) throws(SettingsError) -> Bool? {
        try scalar(name, "true or false") { $0 == "true" ? true : $0 == "false" ? false : nil }
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(SettingsError) -> Int? {
        try scalar(name, "an integer from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func seconds(_ name: String, in range: ClosedRange<Int64>) throws(SettingsError) -> Int64? {
        try scalar(name, "a duration such as 30s, 5m or 24h, \(range.lowerBound)s to \(range.upperBound)s") { text in
            Quantities.seconds(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func milliseconds(_ name: String, in range: ClosedRange<Int64>) throws(SettingsError) -> Int64? {
        try scalar(name, "a duration such as 250ms or 2s, \(range.lowerBound)ms to \(range.upperBound)ms") { text in
            Quantities.milliseconds(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func bytes(_ name: String, in range: ClosedRange<Int>) throws(SettingsError) -> Int? {
        try scalar(name, "a size such as 64KiB or 4MiB, \(range.lowerBound) to \(range.upperBound) bytes") { text in
            Quantities.bytes(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A list of scalars, each read by `read`.
    func list<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(SettingsError) -> [Value]? {
        known.insert(name)
        // A list with nothing behind its name is a slip, and what it would leave open is not for us to guess.
        guard let node = members.first(where: { $0.name == name })?.value else { return nil }
        guard let sequence = node.sequence else {
            throw SettingsError(line: node.line, message: "\(name) must be a list")
        }
        var values: [Value] = []
        for element in sequence {
            guard let scalar = element.scalar, !element.isNull, let value = read(scalar.string) else {
                throw SettingsError(line: element.line, message: "each of \(name) must be \(expected)")
            }
            values.append(value)
        }
        return values
    }

    func texts(_ name: String) throws(SettingsError) -> [String]? {
        try list(name, "a text") { $0.isEmpty ? nil : $0 }
    }

    /// Whether a member that may be a list is this word instead.
    func isWord(_ word: String, _ name: String) -> Bool {
        known.insert(name)
        return node(name)?.scalar?.string == word
    }

    /// A mapping whose names nobody knows beforehand, each with a text or a list of texts.
    ///
    /// - Parameter expected: what each of it must be, for the error.
    func namedTexts(
        _ name: String, _ expected: String
    ) throws(SettingsError) -> [(name: String, texts: [String])]? {
        let members = try section(name).members
        return members.isEmpty
            ? nil
            : try members.map { member throws(SettingsError) in
                let elements = member.value.sequence ?? [member.value]
                let texts = try elements.map { element throws(SettingsError) in
                    guard let scalar = element.scalar, !element.isNull else {
                        throw SettingsError(line: element.line, message: "\(member.name) must be \(expected)")
                    }
                    return scalar.string
                }
                return (member.name, texts)
            }
    }

    /// Whether a member is written, be there anything behind its name or not.
    func mentions(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// A mapping within this one; there even where the file has none, since the environment may fill it.
    func section(_ name: String) throws(SettingsError) -> Section {
        known.insert(name)
        return try Section(node(name), path: path + [name], environment)
    }

    /// The mappings of a list.
    func elements(_ name: String) throws(SettingsError) -> [YAMLNode] {
        known.insert(name)
        guard let node = node(name) else { return [] }
        guard let sequence = node.sequence else {
            throw SettingsError(line: node.line, message: "\(name) must be a list")
        }
        return sequence
    }

    /// An error at the place of a member, or of the section.
    func error(_ name: String? = nil, _ message: String) -> SettingsError {
        SettingsError(line: name.flatMap { node($0)?.line } ?? line, message: message)
    }

    /// Refuses members that nobody has asked for.
    func finish() throws(SettingsError) {
        for member in members where !known.contains(member.name) {
            let names = known.sorted().joined(separator: ", ")
            throw SettingsError(
                line: member.line, message: "\(member.name) is not known here; these are: \(names)")
        }
    }

    private func node(_ name: String) -> YAMLNode? {
        members.first { $0.name == name && !$0.value.isNull }?.value
    }
}
