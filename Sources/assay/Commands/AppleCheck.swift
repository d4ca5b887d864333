import ArgumentParser
import FoundationEssentials
import Glibc
import HTTP
import IDToken
import JOSE
import Keys
import NIOPosix
import OAuth
import OpenSSL
import Settings

struct Apple: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Work with an Apple developer account.", subcommands: [Check.self, ClientSecret.self, Transfer.self])

    struct ClientSecret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "client-secret",
            abstract: "Generate a client secret for Sign in with Apple.",
            discussion: """
                Prints a client secret for requests that you send to Apple yourself, for example with curl. The service \
                generates its own. The secret expires, and can be revoked only by revoking its key.

                  assay apple client-secret --config assay.yaml --client-id com.example.app
                  assay apple client-secret --key-file AuthKey_XYZ123ABCD.p8 \\
                    --key-id XYZ123ABCD --team-id ABCDE12345 --client-id com.example.app
                """)

        @OptionGroup var options: AppleClientOptions

        @Option(
            help: ArgumentHelp(
                "The lifetime of the secret in seconds, at most \(AppleClientKey.maximumLifetimeSeconds).",
                valueName: "seconds"))
        var lifetime: Int64 = 3600

        func validate() throws {
            guard (1...AppleClientKey.maximumLifetimeSeconds).contains(lifetime) else {
                throw ValidationError(
                    "--lifetime must be 1 to \(AppleClientKey.maximumLifetimeSeconds) seconds: Apple accepts no more"
                )
            }
        }

        func run() throws {
            let client = try options.client()
            let file = CredentialFile(path: client.keyFile, name: "the key file")
            let key = try file.appleClientKey(teamID: client.teamID, keyID: client.keyID)
            let now = UnixTime(seconds: SystemClocks.unixSeconds())
            var text = try key.secretOctets(for: client.id, now: now, lifetimeSeconds: lifetime)
            text.append(UInt8(ascii: "\n"))
            defer { wipe(&text) }
            guard unsafe write(STDOUT_FILENO, text, text.count) == text.count else {
                throw ConfigurationError("the secret can't be written to standard output")
            }
        }
    }
}

extension Apple {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check whether Apple accepts your clients, and if not, why.",
            discussion: """
                Sends Apple one request for each client, with a made-up refresh token, so that nothing is used up. Apple \
                responds invalid_client to wrong credentials, whatever is wrong with them, so the command then prints the \
                likely causes. The exit code is 0 if Apple accepts every client, and 1 otherwise.

                  assay apple check --config assay.yaml
                  assay apple check --key-file AuthKey_XYZ123ABCD.p8 --key-id XYZ123ABCD \\
                    --team-id ABCDE12345 --client-id com.example.app
                """)

        @OptionGroup var options: AppleClientOptions

        private struct Checked {
            let client: AppleClient
            let result: Result<ClientCalls.Verdict, ConfigurationError>

            var isAccepted: Bool { if case .success(.accepted) = result { true } else { false } }
        }

        func run() async throws {
            let proxy = try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment)
            var all: [Checked] = []
            for client in try options.clients() {
                all.append(Checked(client: client, result: await verdict(on: client, proxy)))
            }
            for checked in all {
                let isKeyAccepted = all.contains { $0.isAccepted && $0.client.hasSameKey(as: checked.client) }
                print(text(checked, isKeyAccepted: isKeyAccepted))
            }
            if !all.allSatisfy(\.isAccepted) { throw ExitCode(1) }
        }

        private func verdict(
            on client: AppleClient, _ proxy: ProxyEnvironment?
        ) async -> Result<ClientCalls.Verdict, ConfigurationError> {
            do throws(ConfigurationError) {
                let calls = try ClientCalls(
                    client.provider, proxy, on: MultiThreadedEventLoopGroup.singleton.next())
                defer { calls.stop() }
                return .success(await calls.verdict(on: client.id, at: try calls.appleTokenEndpoint()))
            } catch {
                return .failure(error)
            }
        }

        private func text(_ checked: Checked, isKeyAccepted: Bool) -> String {
            let client = checked.client
            switch checked.result {
            case .failure(let error): return "\(client.id): nothing was sent: \(error.text)"
            case .success(.accepted(let error)):
                return "\(client.id): Apple accepts the client (\(error.rawValue) for the made-up refresh token)"
            case .success(.rejected(let error)):
                return AppleClientDiagnosis(client: client).explanation(
                    of: error.name, saying: error.description, isKeyAccepted: isKeyAccepted)
            case .success(.unclear(let error)):
                return
                    "\(client.id): Apple answered \(error.text), which does not show whether it accepts the client"
            case .success(.granted):
                return
                    "\(client.id): the token endpoint accepted a made-up refresh token, so it is probably not Apple's; check endpoints.token"
            case .success(.notOAuth(let reason)):
                return
                    "\(client.id): the token endpoint's response is not an OAuth response (\(reason)), so it is probably not Apple's; check endpoints.token"
            case .success(.unreachable(let reason)): return "\(client.id): Apple can't be reached: \(reason)"
            }
        }
    }
}

extension ClientCalls {
    /// - Throws: ``ConfigurationError`` if the settings name none.
    func appleTokenEndpoint() throws(ConfigurationError) -> FetchURL {
        guard let address = endpoint(.token) else {
            throw ConfigurationError("no token endpoint is known: use preset: apple, or set endpoints.token")
        }
        return address
    }
}

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
        var alone = provider
        alone.clients = [client]
        self.provider = alone
        (id, self.teamID, self.keyID, self.keyFile) = (client.client.id, teamID, keyID, keyFile)
    }

    /// Clients with the same key, Key ID and Team ID differ only in their client ID.
    fileprivate func hasSameKey(as other: AppleClient) -> Bool {
        keyFile == other.keyFile && keyID == other.keyID && teamID == other.teamID
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

    func clients() throws(ConfigurationError) -> [AppleClient] {
        if let keyFile, let keyID, let teamID, let clientID {
            let settings = try Settings(options: "the options") { json in
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
            return settings.appleClients
        }
        guard !file.isAbsent else {
            throw ConfigurationError(
                "there is no settings file at \(ConfigurationFile.usualPath): name one with --config, or use --key-file, --key-id, --team-id and --client-id"
            )
        }
        let all = try file.settings().appleClients
        guard !all.isEmpty else {
            throw ConfigurationError("no provider in the settings has a client with auth: apple")
        }
        let found = all.filter { client in
            (provider.map { client.provider.policy.id == $0 } ?? true) && (clientID.map { client.id == $0 } ?? true)
        }
        guard !found.isEmpty else {
            throw ConfigurationError("the settings have no such client with auth: apple; they have \(Self.list(all))")
        }
        return found
    }

    /// - Throws: ``ConfigurationError`` if several clients fit.
    func client() throws(ConfigurationError) -> AppleClient {
        let found = try clients()
        guard found.count == 1, let client = found.first else {
            throw ConfigurationError(
                "the settings have several clients with auth: apple; choose one with --client-id or --provider: \(Self.list(found))"
            )
        }
        return client
    }

    private static func list(_ clients: [AppleClient]) -> String {
        clients.map { "\($0.id) of \($0.provider.policy.id)" }.joined(separator: ", ")
    }
}

extension Settings {
    fileprivate var appleClients: [AppleClient] {
        providers.flatMap { provider in provider.clients.compactMap { AppleClient($0, of: provider) } }
    }
}

/// - Throws: `ValidationError` unless it has the form of a Team ID or Key ID.
func checkAppleIdentifier(_ text: String, _ option: String) throws {
    guard AppleClientKey.isIdentifier(text) else {
        throw ValidationError("\(option) must be ten capital letters and digits")
    }
}
