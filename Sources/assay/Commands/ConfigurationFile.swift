import ArgumentParser
import FoundationEssentials
import Settings

/// The option `--config`, and the settings that it names.
struct ConfigurationFile: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The settings file.",
            discussion:
                "Default: the value of ASSAY_CONFIG, or else /etc/assay/assay.yaml. Environment variables override scalars and lists of scalars: ASSAY_SERVICE_LISTEN, ASSAY_PROVIDERS_APPLE_CLOCK_SKEW, …",
            valueName: "file"))
    var path: String?

    static let usualPath = "/etc/assay/assay.yaml"

    /// Reads the file, which may not exist.
    func read() -> SettingsFile {
        let environment = ProcessInfo.processInfo.environment
        guard let named = path ?? environment["ASSAY_CONFIG"] else {
            return SettingsFile(path: Self.usualPath, environment: environment, ifAbsent: Self.absence)
        }
        return SettingsFile(path: named, environment: environment)
    }

    /// What to do if no file was named and none is at the default path.
    private static let absence = ConfigurationError(
        text:
            "there is no settings file at \(usualPath): write one, or name one with --config or ASSAY_CONFIG. A provider is enough: providers: [{ id: apple, preset: apple, audiences: [com.example.app] }]. To try Assay without a file, run assay dev"
    )

    /// Whether there are no settings at all: no file was named, none is at the default path, and no environment
    /// variable sets anything.
    var isAbsent: Bool {
        path == nil && !FileManager.default.fileExists(atPath: Self.usualPath)
            && !ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("ASSAY_") }
    }

    /// The settings; the defaults, as for `assay dev`, if no file was named and none is at the default path.
    ///
    /// - Throws: ``ConfigurationError``, like ``settings()``.
    func settingsOrDefaults() throws(ConfigurationError) -> Settings {
        let isNamed = path != nil || ProcessInfo.processInfo.environment["ASSAY_CONFIG"] != nil
        return isNamed || FileManager.default.fileExists(atPath: Self.usualPath) ? try settings() : Settings()
    }

    /// Reads and checks the settings.
    ///
    /// - Throws: ``ConfigurationError`` whose text names the file, the line, and what was expected.
    func settings() throws(ConfigurationError) -> Settings {
        let file = read()
        return try file.settings(file.content)
    }
}
