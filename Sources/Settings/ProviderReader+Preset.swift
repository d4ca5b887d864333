internal import IDToken

extension ProviderReader {
    /// Reads what a preset has to be told, each under its own name.
    static func arguments(
        for preset: ProviderPreset, _ section: Section, id: String
    ) throws(SettingsError) -> PresetArguments {
        var arguments = PresetArguments()
        for parameter in preset.parameters {
            let argument = try section.scalar(parameter.name, parameter.meaning) { text in
                parameter.accepts(text) ? text : nil
            }
            guard argument != nil || parameter.isOptional else {
                let article = parameter.name == "issuer" ? "an" : "a"
                throw section.error(
                    nil,
                    "provider \(id) needs \(article) \(parameter.name) for preset \(preset.name): \(parameter.meaning)")
            }
            arguments[parameter.name] = argument
        }
        return arguments
    }
}
