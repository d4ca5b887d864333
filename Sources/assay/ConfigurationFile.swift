import ArgumentParser
import FoundationEssentials
import Settings

/// The option `--config`, and the settings behind it.
struct ConfigurationFile: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The settings file.",
            discussion:
                "Default: what ASSAY_CONFIG says, else /etc/assay/assay.yaml. Scalars can be overridden by the environment: ASSAY_SERVICE_LISTEN, ASSAY_PROVIDERS_APPLE_CLOCK_SKEW, …",
            valueName: "file"))
    var path: String?

    private static let usualPath = "/etc/assay/assay.yaml"

    /// Reads and checks the settings.
    ///
    /// - Throws: an error whose text names the file, the line, and what was expected.
    func settings() throws -> Settings {
        let environment = ProcessInfo.processInfo.environment
        let path = self.path ?? environment["ASSAY_CONFIG"] ?? Self.usualPath
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(text: "\(path): there is no such file, or it can't be read")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ConfigurationError(text: "\(path): the file is not UTF-8")
        }
        do throws(SettingsError) {
            return try Settings(yaml: text, environment: environment)
        } catch {
            throw ConfigurationError(text: "\(path): \(error)")
        }
    }
}

/// What is wrong with a configuration, for people to read.
struct ConfigurationError: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
