package import IDToken

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
