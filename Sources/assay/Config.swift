import ArgumentParser
import IDToken
import Settings

struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the configuration.", subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the settings file without starting.",
            discussion:
                "Exits with 0 if the service would start with it; else names the line that is wrong and exits with 1.")

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            let settings = try file.settings()
            try settings.service.checkOnThisMachine("service")
            try settings.admin.checkOnThisMachine("admin")
            for warning in settings.warnings { print("warning: \(warning)") }
            let ids = settings.providers.map(\.policy.id).joined(separator: ", ")
            print("the configuration is good; providers: \(ids)")
        }
    }
}
