private import Bytes
internal import IDToken
private import JOSE
private import Verification

/// Reads `providers`.
enum ProviderReader {
    static let member = Member<Settings>(
        [
            SettingDescription(
                name: "providers", expected: "a list of mappings",
                form: .list(
                    of: .section(
                        [id, preset.description] + parameters + [ProviderReading.tokens.description]
                            + ProviderReading.members.flatMap(\.descriptions)),
                    isNeverEmpty: true),
                help: "The OpenID Providers whose tokens are verified.", isRequired: true)
        ]
    ) { top, settings in
        let elements = top.elements("providers")
        var conflicts = ProviderConflicts()
        for node in elements {
            guard let provider = read(node, defaultClockSkew: settings.clockSkewSeconds, top.reading) else { continue }
            if let conflict = conflicts.add(provider, isFaulty: { top.reading.isFaulty(["providers", $0]) }) {
                top.reading.report(nil, line: node.line, conflict)
            }
            settings.providers.append(provider)
        }
        settings.openProvidersKnowOthers()
        top.refuseMissing("providers", if: elements.isEmpty, "at least one provider is needed under providers")
    }.comparing { settings, running in
        func named(_ name: String) -> SettingChange { SettingChange(name: "providers." + name, when: .reload) }
        let ids = Set(settings.providers.map(\.policy.id))
        let former = Dictionary(running.providers.map { ($0.policy.id, $0) }, uniquingKeysWith: { first, _ in first })
        return settings.providers.compactMap { provider in
            let id = provider.policy.id
            guard let before = former[id] else {
                return named("\(id) (new)")
            }
            return provider == before ? nil : named(id)
        } + running.providers.map(\.policy.id).filter { !ids.contains($0) }.map { named("\($0) (gone)") }
    }

    private static let id = SettingDescription(
        name: "id", expected: "1 to 64 letters, digits, dots, hyphens and underscores",
        form: .text(pattern: "^[A-Za-z0-9._-]{1,64}$"),
        help: "The provider's name in requests, responses, metrics and logs.",
        isRequired: true)

    private static let preset = Setting(
        "preset",
        ValueType(
            expected: "one of \(ProviderPreset.all.map(\.name).joined(separator: ", "))",
            form: .words(ProviderPreset.all.map(\.name)), words: ProviderPreset.all.map(\.name),
            parse: ProviderPreset.named, text: \.name),
        defaultDescription: "`oidc`",
        "The name of a [preset](providers.md#presets), which sets the defaults of the settings below. An explicit setting overrides the preset's."
    )

    /// The parameters of all presets, by name. `issuer` is left out, because it is a setting of every provider.
    private static let parameters =
        ProviderPreset.all.flatMap(\.parameters).reduce(into: []) { all, parameter in
            guard parameter.name != "issuer", !all.contains(where: { $0.name == parameter.name }) else { return }
            let presets = ProviderPreset.all.filter { $0.parameters.contains { $0.name == parameter.name } }
            all.append(
                SettingDescription(
                    name: parameter.name, expected: "a string", form: .text(),
                    help: meanings(of: parameter.name, in: presets)))
        } as [SettingDescription]

    /// The names of the presets that have a parameter.
    private static let presetsByParameter = Dictionary(
        grouping: ProviderPreset.all.flatMap { preset in preset.parameters.map { (preset.name, $0.name) } }, by: \.1
    ).mapValues { $0.map(\.0) }

    /// A parameter's meaning in each preset that has it.
    private static func meanings(of parameter: String, in presets: [ProviderPreset]) -> String {
        var meanings: [(meaning: String, presets: [String])] = []
        for preset in presets {
            guard let meaning = preset.parameters.first(where: { $0.name == parameter })?.meaning else { continue }
            if let index = meanings.firstIndex(where: { $0.meaning == meaning }) {
                meanings[index].presets.append("`\(preset.name)`")
            } else {
                meanings.append((meaning, ["`\(preset.name)`"]))
            }
        }
        return meanings.map { "Preset \($0.presets.joined(separator: ", ")): \($0.meaning)." }.joined(separator: " ")
    }

    /// - Returns: `nil` if an error was reported that leaves the provider without an ID or a preset.
    private static func read(
        _ node: YAMLNode, defaultClockSkew: Int64, _ reading: SettingsReading
    ) -> ProviderSettings? {
        // Read first, because the environment variables of all other settings contain it.
        let givenID = id(of: node, reading)
        guard givenID != nil || node.mapping != nil else { return nil }
        // Without an ID, no environment variable applies, but errors in the file are still found.
        let id = givenID ?? ""
        let path = ["providers", id]
        guard let (preset, origin) = preset(Section(node, path: path, reading)) else {
            reading.variables.noteUnread(path)
            return nil
        }
        let section = Section(node, path: path, preset: origin, reading)
        _ = (section.node("id"), section.node("preset"))
        for (parameter, presets) in presetsByParameter {
            section.remark(
                presets.count == 1
                    ? "only preset \(presets[0]) has it" : "only presets \(presets.joined(separator: ", ")) have it",
                ifUnknown: parameter, causingAbsence: Set(preset.parameters.map(\.name)))
        }
        let hasManyIssuers = ProviderReading.hasMany(section)
        if hasManyIssuers, section.source("preset") != nil {
            section.refuse("preset", "preset is about one provider; remove it, or issuers and issuers_file")
        }
        let arguments = hasManyIssuers ? PresetArguments() : arguments(for: preset, section, id: id)
        let (dialect, areOpaque) = ProviderReading.readTokens(section, preset, arguments)
        var provider = ProviderReading(
            preset, arguments, dialect, areOpaque: areOpaque, hasManyIssuers: hasManyIssuers)
        provider.policy.id = id
        provider.policy.clockSkewSeconds = defaultClockSkew
        let unknown = provider.unknown
        for member in ProviderReading.members { member.read(section, &provider, unknown) }
        section.finish()
        if provider.accessTokens != nil {
            reading.forget(ProviderReading.withoutEffect(areOpaque: areOpaque), of: path)
        }
        return givenID == nil ? nil : provider.settings
    }

    private static func id(of node: YAMLNode, _ reading: SettingsReading) -> String? {
        guard let id = node["id"]?.scalar?.string, id.isName(upTo: 64) else {
            let found = (node.mapping == nil ? node : node["id"]).map { "; found \(ErrorValueText.of($0))" } ?? ""
            reading.report(
                ["providers"], line: node.line, "each provider needs an id: \(self.id.expected)" + found)
            // It is unknown which environment variables belong to this provider.
            reading.variables.noteUnread(["providers"])
            return nil
        }
        reading.record(["providers", id, "id"], .scalar(id), .line(node["id"]?.line ?? node.line))
        return id
    }

    /// Reads the preset's name. A misspelled one is replaced by the nearest, so that errors in other settings are found
    /// too.
    private static func preset(
        _ section: Section
    ) -> (preset: ProviderPreset, origin: EffectiveSettings.Origin)? {
        if let preset = preset.read(section) { return (preset, .preset(preset.name)) }
        guard section.isFaulty("preset") else {
            section.record("preset", .scalar(ProviderPreset.oidc.name), .default)
            return (.oidc, .default)
        }
        let names = ProviderPreset.all.map(\.name)
        let meant = section.scalarText("preset").flatMap { Suggestion.nearest(to: $0, among: names) }
        return meant.flatMap(ProviderPreset.named).map { ($0, .preset($0.name)) }
    }

    /// Reads the parameters of a preset, each by its own name.
    private static func arguments(for preset: ProviderPreset, _ section: Section, id: String) -> PresetArguments {
        var arguments = PresetArguments()
        for parameter in preset.parameters {
            var type = ValueType<String>.text(parameter.meaning, isGood: parameter.accepts)
            type.remedy = parameter.advice
            let argument = section.scalar(parameter.name, type)
            if argument == nil, !parameter.isOptional {
                let article = parameter.name == "issuer" ? "an" : "a"
                section.refuseMissing(
                    parameter.name,
                    "provider \(id) needs \(article) \(parameter.name) for preset \(preset.name): \(parameter.meaning)"
                        + (section.mentions(parameter.name + "s") ? "; \(parameter.name)s only narrows it" : ""))
            }
            arguments[parameter.name] = argument
        }
        return arguments
    }
}

extension Settings {
    /// Tells the entries with `issuers: any` which issuers the others have.
    fileprivate mutating func openProvidersKnowOthers() {
        for index in providers.indices where providers[index].issuers?.isOpen == true {
            let others = providers.filter { $0.issuers == nil }.map(\.policy)
            providers[index].issuers = .any(
                OpenIssuerRules(
                    network: providers[index].network, others: others, listed: providers.compactMap(\.issuers?.list)))
        }
    }
}
