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

    /// Reads the file, which may not be there.
    func read() -> SettingsFile {
        let environment = ProcessInfo.processInfo.environment
        return SettingsFile(
            path: path ?? environment["ASSAY_CONFIG"] ?? Self.usualPath, environment: environment)
    }

    /// Reads and checks the settings.
    ///
    /// - Throws: ``ConfigurationError`` whose text names the file, the line, and what was expected.
    func settings() throws(ConfigurationError) -> Settings {
        let file = read()
        return try file.settings(file.content)
    }
}
