import ArgumentParser
import FoundationEssentials
import Glibc
import HTTP
import IDToken
import Keys
import NIOPosix
import OAuth
import OpenSSL

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
                throw ConfigurationError(text: "the secret can't be written to standard output")
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
        guard let address = tokenEndpoint() else {
            throw ConfigurationError(text: "no token endpoint is known: use preset: apple, or set endpoints.token")
        }
        return address
    }
}
