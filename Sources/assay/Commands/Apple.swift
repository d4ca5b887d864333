import ArgumentParser
import Glibc
import Grants
import Host
import IDToken
import OpenSSL

struct Apple: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Work with an Apple developer account.", subcommands: [ClientSecret.self])

    struct ClientSecret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "client-secret",
            abstract: "Make a client secret for Sign in with Apple.",
            discussion: """
                Prints a client secret for requests to Apple that you make yourself, for example with curl. The service \
                makes its own, so it needs none of these. It expires, and cannot be revoked without its key.

                  assay apple client-secret --key-file AuthKey_XYZ123ABCD.p8 --key-id XYZ123ABCD \\
                    --team-id ABCDE12345 --client-id com.example.app
                """)

        @Option(
            help: ArgumentHelp("The private key from Apple (AuthKey_….p8).", valueName: "path"),
            completion: .file(extensions: ["p8"]))
        var keyFile: String

        @Option(help: ArgumentHelp("The Key ID: ten characters, in the name of the key's file.", valueName: "id"))
        var keyID: String

        @Option(help: ArgumentHelp("The Team ID: ten characters.", valueName: "id"))
        var teamID: String

        @Option(help: ArgumentHelp("The app's bundle ID or the website's Services ID.", valueName: "id"))
        var clientID: String

        @Option(
            help: ArgumentHelp(
                "The life of the secret in seconds, at most \(AppleClientSecret.maximumLifetimeSeconds).",
                valueName: "seconds"))
        var lifetime: Int64 = 3600

        func validate() throws {
            for (name, value) in [("--team-id", teamID), ("--key-id", keyID)]
            where !AppleClientSecret.isIdentifier(value) {
                throw ValidationError("\(name) must be ten capital letters and digits")
            }
            guard (1...AppleClientSecret.maximumLifetimeSeconds).contains(lifetime) else {
                throw ValidationError(
                    "--lifetime must be 1 to \(AppleClientSecret.maximumLifetimeSeconds) seconds: Apple accepts no more"
                )
            }
        }

        func run() throws {
            let file = CredentialFile(path: keyFile, name: "--key-file")
            let maker = try file.appleClientSecret(teamID: teamID, keyID: keyID)
            let now = UnixTime(seconds: SystemClocks.unixSeconds())
            var text = try maker.make(clientID: clientID, now: now, lifetimeSeconds: lifetime) + [UInt8(ascii: "\n")]
            defer { wipe(&text) }
            guard unsafe write(STDOUT_FILENO, text, text.count) == text.count else {
                throw ConfigurationError(text: "the secret can't be written to standard output")
            }
        }
    }
}
