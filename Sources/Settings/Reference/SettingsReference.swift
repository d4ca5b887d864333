private import IDToken

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
