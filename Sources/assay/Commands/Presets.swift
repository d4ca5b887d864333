import ArgumentParser
import IDToken
import Settings

struct Presets: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the presets, or print the settings of one.",
        subcommands: [List.self, Show.self, Reference.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the presets, each with the parameters that it needs.")

        func run() {
            let width = ProviderPreset.all.map(\.name.count).max() ?? 0
            for preset in ProviderPreset.all {
                let names = preset.parameters.map { $0.isOptional ? "[\($0.name)]" : $0.name }
                let needs = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
                print(preset.name.padded(to: width + 2) + preset.summary + needs)
            }
        }
    }

    struct Reference: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the presets and the settings that they stand for, in Markdown.", shouldDisplay: false)

        func run() { print(SettingsReference.presets(), terminator: "") }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the settings that a preset stands for.",
            discussion: """
                The printed settings work without the preset. Start from them if your provider differs only a little from a known one.

                  assay presets show apple
                  assay presets show microsoft tenant=organizations
                """)

        @Argument(help: "The preset.")
        var name: String

        @Argument(help: ArgumentHelp("The preset's parameters.", valueName: "parameter=value"))
        var arguments: [String] = []

        func run() throws {
            let preset = try ProviderPreset.find(name)
            print(preset.yaml(try values(for: preset)), terminator: "")
        }

        private func values(for preset: ProviderPreset) throws -> PresetArguments {
            var values = PresetArguments()
            for argument in arguments {
                let (parameter, value) = try preset.parse(argument, form: "name=value")
                guard parameter.accepts(value) else {
                    throw ValidationError("\(parameter.name) must be \(parameter.meaning)")
                }
                values[parameter.name] = value
            }
            return values
        }
    }
}

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
