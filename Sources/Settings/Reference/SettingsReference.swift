package import IDToken

/// The reference of all settings, in Markdown.
package enum SettingsReference {
    package static func markdown() -> String {
        let usual = DefaultSettings()
        let all = Settings.members.flatMap(\.descriptions)
        var lines = table(all.filter(\.sections.isEmpty).flatMap { rows($0, [], .reload, usual) })
        for section in all where !section.sections.isEmpty {
            lines += ["### `\(section.name)`", "", section.help, ""]
            lines += table(
                section.sections.flatMap { part in
                    // Variables name a provider by its ID.
                    let isElement = part.isElement && section.name != "providers"
                    return part.members.flatMap {
                        rows($0, [section.name], section.change, usual, isElement: isElement)
                    }
                })
        }
        return lines.joined(separator: "\n")
    }

    /// The presets, with the settings that each stands for, in Markdown.
    package static func presets() -> String {
        let rows = ProviderPreset.all.map { preset in
            let needs = preset.parameters.map { parameter in
                // Otherwise a placeholder such as <host> would be an HTML tag.
                let meaning = parameter.meaning.replacing("<", with: "&lt;")
                return "`\(parameter.name)`\(parameter.isOptional ? " (optional)" : ""): \(meaning)"
            }
            let settings = preset.settings().filter { $0.origin == .preset(preset.name) }.map { setting in
                "`\(setting.path.dropFirst(2).joined(separator: ".")): \(setting.value?.text ?? "")`"
            }
            return [
                "`\(preset.name)`", preset.summary, needs.joined(separator: "; "), settings.joined(separator: ", "),
            ]
        }
        let cells = [["preset", "provider", "needs", "settings"], ["---", "---", "---", "---"]] + rows
        return cells.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    private static func table(_ rows: [String]) -> [String] {
        ["| setting | value | default | takes effect at | meaning |", "|---|---|---|---|---|"] + rows + [""]
    }

    /// The rows of a setting, or of a section and its settings.
    ///
    /// - Parameter isElement: whether it is in an element of a list, which environment variables can't set.
    private static func rows(
        _ setting: SettingDescription, _ path: [String], _ change: SettingDescription.Change, _ usual: DefaultSettings,
        isElement: Bool = false
    ) -> [String] {
        let path = path + [setting.name]
        var name = path.joined(separator: ".").replacing("providers.", with: "providers[].")
        if isElement { name = name.replacing(".clients.", with: ".clients[].") }
        let change = setting.change == .restart ? .restart : change
        guard setting.sections.isEmpty else {
            return ["| `\(name)` | | | | \(setting.help) |"]
                + setting.sections.flatMap { section in
                    section.members.flatMap {
                        rows($0, path, change, usual, isElement: isElement || section.isElement)
                    }
                }
        }
        let value = usual.value(path).map { "`\($0.text)`" }
        let standard = setting.isRequired ? "required" : setting.defaultDescription ?? value ?? "none"
        let variable = isElement ? nil : setting.variable(path).map { "<br>`\($0)`" }
        return [
            "| `\(name)`\(variable ?? "") | \(setting.expected) | \(standard) | \(change.rawValue) | \(setting.help) |"
        ]
    }
}

extension SettingDescription {
    /// A section, an element of a list of sections, or both where either may stand.
    fileprivate var sections: [(members: [SettingDescription], isElement: Bool)] { Self.sections(of: form) }

    private static func sections(of form: ValueForm) -> [(members: [SettingDescription], isElement: Bool)] {
        switch form {
        case .section(let members): [(members, false)]
        case .list(.section(let members), _): [(members, true)]
        case .either(let one, let other): sections(of: one) + sections(of: other)
        default: []
        }
    }

    /// Its environment variable; `nil` if only the file can set it.
    fileprivate func variable(_ path: [String]) -> String? {
        switch form {
        case .mapping, .either(.mapping, _): nil
        case _ where path == ["providers", "id"]: nil
        case _ where path.first == "providers":
            EnvironmentVariables.name(["providers", "<ID>"] + path.dropFirst()).replacing("__ID__", with: "_<ID>_")
        default: EnvironmentVariables.name(path)
        }
    }
}

extension EffectiveSettings.Value {
    /// The value on one line, as in the file.
    fileprivate var text: String {
        switch self {
        case .scalar(let text): text
        case .list(let texts), .flow(let texts): "[\(texts.joined(separator: ", "))]"
        }
    }
}

/// The JSON Schema (draft 2020-12) of the settings file, for completion and validation in editors.
///
/// It is stricter than the reader in one respect: booleans and numbers must not be quoted.
package enum SettingsSchema {
    package static func json() -> String {
        let usual = DefaultSettings()
        let head: [(name: String, value: JSONText)] = [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Settings of Assay (assay.yaml)")),
        ]
        guard case .object(let members) = section(Settings.members.flatMap(\.descriptions), [], usual) else {
            return ""
        }
        return JSONText.object(head + members).text() + "\n"
    }

    private static func section(
        _ members: [SettingDescription], _ path: [String], _ usual: DefaultSettings
    ) -> JSONText {
        let required = members.filter(\.isRequired).map { JSONText.string($0.name) }
        return .object(
            [
                ("type", .string("object")), ("additionalProperties", .literal("false")),
                ("properties", .object(members.map { ($0.name, property($0, path + [$0.name], usual)) })),
            ] + (required.isEmpty ? [] : [("required", .array(required))]))
    }

    private static func property(
        _ setting: SettingDescription, _ path: [String], _ usual: DefaultSettings
    ) -> JSONText {
        guard case .object(let form) = schema(setting.form, path, usual) else { return .literal("true") }
        let value = usual.value(path).map { [("default", json($0, setting.form))] } ?? []
        // Links are relative to the reference page, so an editor can't follow them.
        let help = setting.help.replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.1 }
        return .object([("description", .string(help))] + form + value)
    }

    private static func schema(_ form: ValueForm, _ path: [String], _ usual: DefaultSettings) -> JSONText {
        func typed(_ type: String, _ members: (name: String, value: JSONText)...) -> JSONText {
            .object([("type", .string(type))] + members)
        }
        switch form {
        case .text(let pattern):
            // A string setting, such as a client ID, may look like a number to YAML.
            return .object(
                [("type", .array([.string("string"), .string("number")]))]
                    + (pattern.map { [("pattern", .string($0))] } ?? []))
        case .boolean: return typed("boolean")
        case .words(let words): return .object([("enum", .array(words.map { json(.scalar($0), form) }))])
        case .integer(let range):
            return typed(
                "integer", ("minimum", .literal("\(range.lowerBound)")), ("maximum", .literal("\(range.upperBound)")))
        case .number(let range):
            return typed(
                "number", ("minimum", .literal("\(range.lowerBound)")), ("maximum", .literal("\(range.upperBound)")))
        case .quantity(let units):
            return typed("string", ("pattern", .string("^[0-9]+(\(units.joined(separator: "|")))$")))
        case .list(let element, isNeverEmpty: true):
            return typed("array", ("items", schema(element, path, usual)), ("minItems", .literal("1")))
        case .list(let element, isNeverEmpty: false): return typed("array", ("items", schema(element, path, usual)))
        case .either(let one, let other):
            return .object([("anyOf", .array([schema(one, path, usual), schema(other, path, usual)]))])
        case .section(let members): return section(members, path, usual)
        case .mapping(let value): return typed("object", ("additionalProperties", schema(value, path, usual)))
        }
    }

    private static func json(_ value: EffectiveSettings.Value, _ form: ValueForm) -> JSONText {
        switch (value, form) {
        case (.scalar(let text), .integer), (.scalar(let text), .number), (.scalar(let text), .boolean): .literal(text)
        case (.scalar(let text), .words) where ["true", "false"].contains(text): .literal(text)
        case (.scalar(let text), _): .string(text)
        case (.list(let texts), _), (.flow(let texts), _): .array(texts.map { .string($0) })
        }
    }
}

/// The default values of all settings, recorded by reading a minimal file.
struct DefaultSettings {
    private let effective = Settings.effective(
        """
        tracing: { otlp_endpoint: "http://127.0.0.1:4318" }
        sign_ins: {}
        dpop: {}
        providers: [{ id: p, issuer: "https://op.example", audiences: [a] }]
        """)

    /// The default of a setting; `nil` if it has none, or if it varies.
    ///
    /// - Parameter path: without the provider's ID.
    func value(_ path: [String]) -> EffectiveSettings.Value? {
        let path = path.first == "providers" ? ["providers", "p"] + path.dropFirst() : path
        guard let setting = effective[path], setting.origin == .default else { return nil }
        return setting.value
    }
}

extension ProviderPreset {
    /// The settings of a minimal provider with this preset. Missing parameters get placeholders.
    ///
    /// - Parameter namesPreset: whether to add the preset and its parameters.
    func settings(
        _ arguments: PresetArguments = PresetArguments(), namesPreset: Bool = false
    ) -> [EffectiveSettings.Setting] {
        let facts = facts(arguments)
        var lines = ["id: \(YAMLText.scalar(name))", "preset: \(YAMLText.scalar(name))"]
        if facts.policy.audiences.isEmpty, facts.accessTokens.dialect?.loadBalancer == nil {
            lines.append("audiences: [\"<client ID>\"]")
        }
        for rule in facts.policy.claimRules where !facts.ownClaimRules.contains(rule) {
            lines.append("claim_values: { \(rule.claim.name.string): [\"\(rule.values.joined())\"] }")
        }
        for parameter in parameters {
            guard let argument = arguments[parameter.name] else { continue }
            lines.append("\(parameter.name): \(YAMLText.scalar(argument))")
        }
        let parameters = namesPreset ? [] : ["preset"] + parameters.map(\.name).filter { $0 != "issuer" }
        return Settings.effective("providers:\n  - " + lines.joined(separator: "\n    ")).all.filter { setting in
            setting.path.count > 2 && setting.path[0] == "providers" && setting.value != nil
                && setting.origin != .default && !parameters.contains(setting.path[2])
        }
    }
}

extension ProviderPreset {
    /// The preset written out as a settings file with one provider and no preset. Only a gateway keeps its preset,
    /// because no setting describes how its assertions are read.
    ///
    /// - Parameter arguments: values of the preset's parameters. For missing ones, an explained placeholder is written.
    package func yaml(_ arguments: PresetArguments = PresetArguments()) -> String {
        let missing = parameters.filter { arguments[$0.name] == nil }.map { parameter in
            parameter.isOptional
                ? "# optional \(parameter.name): \(parameter.meaning)"
                : "# \(parameter.placeholder) (\(parameter.name)): \(parameter.meaning)"
        }
        let callers = facts(arguments).callers.map { callers in
            let claims = callers.claims.map(\.name.string).joined(separator: ", ")
            return
                "# restrict one of \(claims) in claim_values; otherwise tokens of \(callers.everyone) would be accepted"
        }
        // Other programs may read the file too, so strings that look like numbers are quoted.
        var isGateway = false
        if case .assertions = facts(arguments).accessTokens { isGateway = true }
        let settings = settings(arguments, namesPreset: isGateway).map { setting in
            guard case .list(let texts)? = setting.value else { return setting }
            return EffectiveSettings.Setting(
                path: setting.path, value: .flow(texts.map(YAMLText.scalar)), origin: setting.origin, file: nil)
        }
        let head = ["# \(name): \(summary)"] + missing + [callers].compactMap(\.self)
        return head.joined(separator: "\n") + "\n" + EffectiveSettings(settings).yaml(namesOrigins: false)
    }
}

/// Readable JSON: indented, with members in the given order.
indirect enum JSONText {
    case object([(name: String, value: JSONText)])
    case array([JSONText])
    case string(String)
    /// A number, `true`, `false` or `null`, as written.
    case literal(String)

    func text(indentation: Int = 0) -> String {
        let inner = "\n" + String(repeating: " ", count: indentation + 2)
        let end = "\n" + String(repeating: " ", count: indentation)
        switch self {
        case .object(let members):
            let lines = members.map { "\(Self.quoted($0.name)): \($0.value.text(indentation: indentation + 2))" }
            return "{" + inner + lines.joined(separator: "," + inner) + end + "}"
        case .array(let elements):
            let texts = elements.map { $0.text(indentation: indentation + 2) }
            return texts.contains { $0.contains("\n") }
                ? "[" + inner + texts.joined(separator: "," + inner) + end + "]" : "[\(texts.joined(separator: ", "))]"
        case .string(let text): return Self.quoted(text)
        case .literal(let text): return text
        }
    }

    /// Does not escape control characters: descriptions and patterns contain none.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
