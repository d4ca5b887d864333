import ArgumentParser
import FoundationEssentials
import IDToken
import JOSE
import OAuth
import Settings

/// A client with `auth: apple`, from the settings or the options.
struct AppleClient: Sendable {
    /// The provider with this client alone.
    let provider: ProviderSettings
    let id: String
    let teamID: String
    let keyID: String
    let keyFile: String

    /// - Returns: `nil` for a client of another kind.
    init?(_ client: ClientSettings, of provider: ProviderSettings) {
        guard case .apple(let teamID, let keyID, let keyFile) = client.authentication else { return nil }
        self.provider = provider.with(client)
        (id, self.teamID, self.keyID, self.keyFile) = (client.client.id, teamID, keyID, keyFile)
    }

    /// Clients with the same key, Key ID and Team ID differ only in their client ID.
    func hasSameKey(as other: AppleClient) -> Bool {
        keyFile == other.keyFile && keyID == other.keyID && teamID == other.teamID
    }
}

extension ProviderSettings {
    fileprivate func with(_ client: ClientSettings) -> ProviderSettings {
        var copy = self
        copy.clients = [client]
        return copy
    }
}

/// The clients that a command is about: those of a settings file, or one that the options describe.
struct AppleClientOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp("The provider in the settings, if several have clients with auth: apple.", valueName: "id"))
    var provider: String?

    @Option(
        help: ArgumentHelp(
            "The client ID: the app's bundle ID or the website's Services ID. With settings, one of their clients.",
            valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "The private key from Apple (AuthKey_….p8), instead of settings. Needs --key-id, --team-id and --client-id.",
            valueName: "path"),
        completion: .file(extensions: ["p8"]))
    var keyFile: String?

    @Option(help: ArgumentHelp("The Key ID: ten characters. It is part of the key file's name.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("The Team ID: ten characters.", valueName: "id"))
    var teamID: String?

    func validate() throws {
        let given = [("--key-file", keyFile), ("--key-id", keyID), ("--team-id", teamID)]
        guard given.contains(where: { $0.1 != nil }) else { return }
        for (name, value) in given + [("--client-id", clientID)] where value == nil {
            throw ValidationError(
                "\(name) is missing: without settings, --key-file, --key-id, --team-id and --client-id are needed")
        }
        guard clientID != "" else { throw ValidationError("--client-id must not be empty") }
        guard file.path == nil, provider == nil else {
            throw ValidationError("--key-file is used instead of settings; omit --config and --provider")
        }
        for case (let name, let value?) in [("--team-id", teamID), ("--key-id", keyID)] {
            try checkAppleIdentifier(value, name)
        }
    }

    /// - Throws: ``ConfigurationError``.
    func clients() throws(ConfigurationError) -> [AppleClient] {
        if let keyFile, let keyID, let teamID, let clientID {
            return try described(keyFile: keyFile, keyID: keyID, teamID: teamID, clientID: clientID)
        }
        guard !file.isAbsent else {
            throw ConfigurationError(
                text:
                    "there is no settings file at \(ConfigurationFile.usualPath): name one with --config, or use --key-file, --key-id, --team-id and --client-id"
            )
        }
        let settings = try file.settings()
        let all = settings.providers.flatMap { provider in
            provider.clients.compactMap { AppleClient($0, of: provider) }
        }
        guard !all.isEmpty else {
            throw ConfigurationError(text: "no provider in the settings has a client with auth: apple")
        }
        let found = all.filter { client in
            (provider.map { client.provider.policy.id == $0 } ?? true) && (clientID.map { client.id == $0 } ?? true)
        }
        guard !found.isEmpty else {
            throw ConfigurationError(
                text: "the settings have no such client with auth: apple; they have \(Self.list(all))")
        }
        return found
    }

    /// - Throws: ``ConfigurationError`` if several clients fit.
    func client() throws(ConfigurationError) -> AppleClient {
        let found = try clients()
        guard found.count == 1, let client = found.first else {
            throw ConfigurationError(
                text:
                    "the settings have several clients with auth: apple; choose one with --client-id or --provider: \(Self.list(found))"
            )
        }
        return client
    }

    private static func list(_ clients: [AppleClient]) -> String {
        clients.map { "\($0.id) of \($0.provider.policy.id)" }.joined(separator: ", ")
    }

    /// The client of the options, as if settings had it. They are written as JSON, which is YAML, so that an argument
    /// can't break out of its string.
    private func described(
        keyFile: String, keyID: String, teamID: String, clientID: String
    ) throws(ConfigurationError) -> [AppleClient] {
        var json = JSONWriter()
        json.object { json in
            json.objects("providers", [clientID]) { json, clientID in
                json.member("id", "apple")
                json.member("preset", "apple")
                json.array("audiences", [clientID])
                json.objects("clients", [clientID]) { json, clientID in
                    json.member("id", clientID)
                    json.member("auth", "apple")
                    json.member("team_id", teamID)
                    json.member("key_id", keyID)
                    json.member("key_file", keyFile)
                }
            }
        }
        do throws(SettingsError) {
            let settings = try Settings(yaml: String(decoding: json.bytes, as: UTF8.self), environment: [:])
            return settings.providers.flatMap { provider in
                provider.clients.compactMap { AppleClient($0, of: provider) }
            }
        } catch {
            throw ConfigurationError(text: "the options: \(error)")
        }
    }
}

/// - Throws: `ValidationError` unless it has the form of a Team ID or Key ID.
func checkAppleIdentifier(_ text: String, _ option: String) throws {
    guard AppleClientKey.isIdentifier(text) else {
        throw ValidationError("\(option) must be ten capital letters and digits")
    }
}
