package import IDToken
private import YAML

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
