internal import IDToken
private import YAML

/// The default values of all settings, recorded by reading a minimal file.
struct DefaultSettings {
    private let effective = Settings.effective(
        """
        tracing: { otlp_endpoint: "http://127.0.0.1:4318" }
        sign_ins: {}
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
