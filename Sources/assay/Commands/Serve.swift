import ArgumentParser
import IDToken
import JOSE
import Settings

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Serves on the service and admin addresses of the settings. On SIGTERM or SIGINT, drains requests in flight and \
            exits with 0. Logs to standard error, one JSON object per line.

            Reloads the settings file when it changes, or on SIGHUP, without failing a request. An invalid file is logged and \
            ignored.
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let file = file.read()
        let settings = try file.read(file.content, recording: .allButProviders, check: FileCheck.faultsAtStart).settings
        try await Application(settings).run(file: file)
    }
}

/// The source of providers for a command that verifies one token: a settings file, or a preset.
struct SettingsSource: ParsableArguments {
    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "A preset, such as apple or google, instead of a settings file. Needs the client ID as --audience.",
            valueName: "name"))
    var preset: String?

    @Option(
        name: .customLong("preset-parameter"),
        help: ArgumentHelp(
            "A parameter of the preset, such as tenant=… (repeatable); see assay presets.", valueName: "name=value"
        ))
    var parameters: [String] = []

    func validate() throws {
        guard preset == nil || file.path == nil else {
            throw ValidationError("--preset and --config are mutually exclusive")
        }
        guard preset != nil || parameters.isEmpty else {
            throw ValidationError("--preset-parameter needs --preset")
        }
    }

    /// The settings and, with a preset, the provider that the token must be from.
    ///
    /// - Parameters:
    ///   - audience: the client ID for a preset; with access tokens, the API's identifier.
    ///   - verifiesAccessTokens: whether a preset's provider verifies access tokens.
    ///   - canAskServer: whether the command has the option `--server`.
    /// - Throws: ``ConfigurationError``, `ValidationError`.
    func settings(
        audience: String?, verifiesAccessTokens: Bool = false, canAskServer: Bool = false
    ) throws -> (settings: Settings, provider: String?) {
        guard let name = preset else {
            guard !file.isAbsent else {
                throw ConfigurationError(
                    "there is no settings file at \(ConfigurationFile.usualPath): name one with --config, or use "
                        + "--preset apple --audience com.example.app"
                        + (canAskServer ? ", or --server URL to ask a running instance" : ""))
            }
            return (try file.settings(), nil)
        }
        let preset = try ProviderPreset.find(name)
        guard let audience else {
            throw ValidationError("--preset needs --audience: the client ID of the app that the token must be for")
        }
        let arguments = try parameters.map { try preset.parse($0, form: "--preset-parameter name=value") }
        let settings = try Settings(options: "--preset \(name)") { json in
            json.member("id", preset.name)
            json.member("preset", preset.name)
            json.array("audiences", [audience])
            if verifiesAccessTokens { json.member("tokens", "access") }
            for (parameter, value) in arguments {
                json.name(escaping: parameter.name)
                json.value(value)
            }
        }
        return (settings, preset.name)
    }
}

extension Settings {
    /// Settings with one provider, which options describe. It is written as JSON, which is YAML, so that an argument
    /// can't break out of its string.
    ///
    /// - Parameters:
    ///   - options: their names, for errors.
    ///   - write: writes the provider's members.
    init(options: String, _ write: (inout JSONWriter) -> Void) throws(ConfigurationError) {
        var json = JSONWriter()
        json.object { json in
            json.name("providers")
            json.beginArray()
            json.object(write)
            json.endArray()
        }
        do throws(SettingsError) {
            try self.init(yaml: String(decoding: json.bytes, as: UTF8.self), environment: [:])
        } catch {
            throw ConfigurationError("\(options): \(error)")
        }
    }
}
