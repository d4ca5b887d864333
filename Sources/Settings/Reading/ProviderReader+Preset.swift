internal import IDToken

extension ProviderReader {
    /// Reads the parameters of a preset, each under its own name.
    static func arguments(for preset: ProviderPreset, _ section: Section, id: String) -> PresetArguments {
        var arguments = PresetArguments()
        for parameter in preset.parameters {
            let argument = section.scalar(parameter.name, parameter.meaning) { text in
                parameter.accepts(text) ? text : nil
            }
            if argument == nil, !parameter.isOptional {
                let article = parameter.name == "issuer" ? "an" : "a"
                section.refuseMissing(
                    parameter.name,
                    "provider \(id) needs \(article) \(parameter.name) for preset \(preset.name): \(parameter.meaning)")
            }
            arguments[parameter.name] = argument
        }
        return arguments
    }
}
