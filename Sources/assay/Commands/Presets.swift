import ArgumentParser
import IDToken
import Settings

struct Presets: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the providers that are known beforehand, or show what one stands for.",
        subcommands: [List.self, Show.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the presets, each with what it has to be told.")

        func run() {
            let width = ProviderPreset.all.map(\.name.count).max() ?? 0
            for preset in ProviderPreset.all {
                let names = preset.parameters.map { $0.isOptional ? "[\($0.name)]" : $0.name }
                let needs = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
                print(preset.name.padded(to: width + 2) + preset.summary + needs)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the settings that a preset stands for.",
            discussion: """
                What is printed works without the preset, and is where to start for a provider that is nearly another one.

                  assay presets show apple
                  assay presets show microsoft tenant=organizations
                """)

        @Argument(help: "The preset.")
        var name: String

        @Argument(help: ArgumentHelp("What the preset has to be told.", valueName: "parameter=value"))
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
