import ArgumentParser
import IDToken

extension ProviderPreset {
    /// The preset that an argument names.
    static func find(_ name: String) throws(ValidationError) -> ProviderPreset {
        guard let preset = named(name) else {
            throw ValidationError("there is no preset \(name); assay presets lists them")
        }
        return preset
    }

    /// Parses an argument `name=value` that sets a parameter.
    ///
    /// - Parameter form: the expected form, for the error.
    func parse(
        _ argument: String, form: String
    ) throws(ValidationError) -> (parameter: PresetParameter, value: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let parameter = parameters.first(where: { $0.name == parts[0] }) else {
            let names = parameters.map(\.name).joined(separator: ", ")
            throw ValidationError(
                names.isEmpty ? "preset \(name) takes no parameter" : "preset \(name) takes \(names), each as \(form)")
        }
        return (parameter, String(parts[1]))
    }
}
