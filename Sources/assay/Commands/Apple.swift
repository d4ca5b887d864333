import ArgumentParser
import Glibc
import Grants
import Host
import IDToken
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
                "The lifetime of the secret in seconds, at most \(AppleClientSecret.maximumLifetimeSeconds).",
                valueName: "seconds"))
        var lifetime: Int64 = 3600

        func validate() throws {
            guard (1...AppleClientSecret.maximumLifetimeSeconds).contains(lifetime) else {
                throw ValidationError(
                    "--lifetime must be 1 to \(AppleClientSecret.maximumLifetimeSeconds) seconds: Apple accepts no more"
                )
            }
        }

        func run() throws {
            let client = try options.client()
            let file = CredentialFile(path: client.keyFile, name: "the key file")
            let maker = try file.appleClientSecret(teamID: client.teamID, keyID: client.keyID)
            let now = UnixTime(seconds: SystemClocks.unixSeconds())
            var text = try maker.make(clientID: client.id, now: now, lifetimeSeconds: lifetime) + [UInt8(ascii: "\n")]
            defer { wipe(&text) }
            guard unsafe write(STDOUT_FILENO, text, text.count) == text.count else {
                throw ConfigurationError(text: "the secret can't be written to standard output")
            }
        }
    }
}
