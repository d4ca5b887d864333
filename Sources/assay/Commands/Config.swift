import ArgumentParser
import FoundationEssentials
import HTTP
import IDToken
import Keys
import NIOSSL
import Service
import Settings

struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check and print the configuration.",
        subcommands: [Check.self, Show.self, Schema.self, Reference.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the settings file without starting.",
            discussion: """
                The exit code is 0 if the file and the files that it names are valid. Otherwise it is 1, and each error names its line.

                With --live, it also connects to each provider as the service would, and prints one line for each \
                finding: addresses, certificate, discovery document, keys, their lifetime, and clock differences. It \
                connects to sign_ins.store too, and checks its eviction policy and persistence. The exit code is then 1 if a \
                provider, even an optional one, or the store can't be used.
                """)

        @OptionGroup var file: ConfigurationFile

        @Flag(help: "Also connect to each provider, and to sign_ins.store.")
        var live = false

        @Option(
            help: ArgumentHelp(
                "With --live, connect only to this issuer of a provider with issuers or issuers_file.",
                discussion: "Default: every provider, and up to 20 issuers of each list, evenly chosen.",
                valueName: "url"))
        var issuer: String?

        @Flag(help: "Print the findings of --live as one JSON object.")
        var json = false

        func validate() throws {
            if json, !live { throw ValidationError("--json requires --live") }
            if issuer != nil, !live { throw ValidationError("--issuer requires --live") }
        }

        func run() async throws {
            let source = file.read()
            // With --live, the findings include the files of providers.
            let faults = live ? FileCheck.faultsAtStart : FileCheck.faults
            let (settings, effective) = try source.read(source.content, check: faults)
            let clientFaults = settings.clientFileFaults(effective)
            if !clientFaults.isEmpty { throw ConfigurationError(clientFaults, in: source.path) }
            let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
            let warnings = settings.allWarnings + (proxy?.warnings ?? []) + settings.exampleWarnings
            if !json {
                for warning in warnings { print("warning: \(warning)") }
                let ids = settings.providers.map(\.policy.id).joined(separator: ", ")
                print("the configuration is valid; providers: \(ids)")
            }
            guard live else { return }
            let check = try await LiveCheck(settings, issuer: issuer)
            if json {
                print(String(decoding: check.json(warnings: warnings), as: UTF8.self))
            } else {
                for line in check.lines { print(line) }
            }
            if !check.couldAllServe { throw ExitCode(1) }
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema of the settings file, for editors and other tools.")

        func run() { print(SettingsSchema.json(), terminator: "") }
    }

    struct Reference: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the reference of all settings, in Markdown.", shouldDisplay: false)

        func run() { print(SettingsReference.markdown(), terminator: "") }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the effective settings and the source of each.",
            discussion: """
                Prints a settings file with every setting; a comment names the line of the file, the environment variable or \
                the preset that it comes from, or says that it is the default. API keys are shown as their digests and \
                files as their paths; credentials in URLs are masked. A comment at the top names the proxy that \
                HTTPS_PROXY and NO_PROXY configure, if any.
                """)

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            let source = file.read()
            let effective = try source.read(source.content).effective
            let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
            print("# The settings of \(source.path) and of this environment.")
            if let proxy { print(Self.comment(on: proxy)) }
            print(effective.yaml(), terminator: "")
        }

        /// The proxy of the environment on one line, without credentials.
        private static func comment(on proxy: ProxyEnvironment) -> String {
            var text = "# https fetches of keys go through the proxy \(proxy.host):\(proxy.port) (HTTPS_PROXY)"
            if !proxy.exceptions.isEmpty {
                text += ", except for \(proxy.exceptions.map(\.text).joined(separator: ", ")) (NO_PROXY)"
            }
            return text.filter { $0.isASCII && !$0.isNewline }
        }
    }
}

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

/// Checks the parts of settings that depend on the machine: files, and groups of sockets.
enum FileCheck {
    /// Faults that prevent the service from starting.
    static func faultsAtStart(_ effective: EffectiveSettings) -> [SettingsFault] {
        ["service", "admin"].flatMap { listenerFaults($0, effective) } + fileFaults("tracing", effective)
            + fileFaults("sign_ins", effective) + handleKeyFaults(effective)
    }

    private static func handleKeyFaults(_ effective: EffectiveSettings) -> [SettingsFault] {
        let path = ["sign_ins", "key_files"]
        guard case .list(let files)? = effective[path]?.value else { return [] }
        do throws(ConfigurationError) {
            _ = try SignInFiles(keyFiles: files).read()
            return []
        } catch {
            return [SettingsFault(line: effective.line(of: path), message: error.text)]
        }
    }

    /// The same, and faults of providers' files: with these, the service would start, but find no keys.
    static func faults(_ effective: EffectiveSettings) -> [SettingsFault] {
        faultsAtStart(effective) + fileFaults("providers", effective)
    }

    private static func listenerFaults(_ name: String, _ effective: EffectiveSettings) -> [SettingsFault] {
        func fault(_ path: [String], _ error: any Error) -> SettingsFault {
            SettingsFault(line: effective.line(of: path), message: "\(path.joined(separator: ".")): \(error)")
        }
        var faults: [SettingsFault]
        if let certificate = effective.text([name, "tls", "certificate_file"]),
            let key = effective.text([name, "tls", "key_file"])
        {
            let authorities = effective.text([name, "tls", "client_ca_file"])
            faults = TLSFiles(certificate: certificate, key: key, clientAuthorities: authorities).faults().map {
                fault([name, "tls", $0.file.rawValue], $0)
            }
        } else {
            faults = fileFaults(name, effective)
        }
        if effective.text([name, "listen"])?.hasPrefix("unix:") == true {
            let path = [name, "socket", "group"]
            do { try SocketPermissions(group: effective.text(path)).check() } catch {
                faults.append(fault(path, error))
            }
        }
        return faults
    }

    private static func fileFaults(_ section: String, _ effective: EffectiveSettings) -> [SettingsFault] {
        effective.all.compactMap { setting in
            // Lists of issuers are read with the settings.
            guard setting.path.first == section, let purpose = setting.file, purpose != .issuers,
                let file = effective.text(setting.path),
                let fault = fault(file, purpose, maximumSize: section == "tracing" ? 64 * 1024 : 512 * 1024)
            else { return nil }
            let name = NamedFile.name(ofSetting: setting.path)
            return SettingsFault(line: effective.line(of: setting.path), message: "\(name): \(file): \(fault)")
        }
    }

    /// The fault of a file; `nil` if there is none.
    private static func fault(_ path: String, _ purpose: NamedFile.Purpose, maximumSize: Int) -> String? {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true).bytes
        } catch {
            return error.text(maximumSize: maximumSize)
        }
        switch purpose {
        case .certificate, .authorities:
            let certificates = (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
            return certificates.isEmpty ? "it contains no PEM certificate" : nil
        case .headers:
            do throws(CollectorHeaders.Malformed) {
                _ = try CollectorHeaders(String(decoding: bytes, as: UTF8.self))
                return nil
            } catch {
                return "\(error)"
            }
        case .secret: return bytes.allSatisfy { $0 == 0x0a || $0 == 0x0d } ? "the file is empty" : nil
        case .settings, .privateKey, .keySet, .issuers: return nil
        }
    }
}
