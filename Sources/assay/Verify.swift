import ArgumentParser
import AssayHTTP
import HTTPListener
import JSON
import NIOHTTP1
import Settings

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one ID Token from standard input.",
        discussion: """
            Prints what POST /v1/verify would answer: the identity, exit code 0; or the problem, exit code 1.

              assay verify --config assay.yaml --provider apple --nonce "$nonce" < token.txt
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(help: "The id of a configured provider. Default: the one whose issuer the token names.")
    var provider: String?

    @Option(help: "The raw nonce of this sign-in.")
    var nonce: String?

    @Option(help: "The one of the provider's audiences that this sign-in was for.")
    var audience: String?

    @Option(help: "Seconds since the user authenticated that are acceptable.")
    var maxAge: Int64?

    @Flag(help: "Add the token's verified claims.")
    var includeClaims = false

    func run() async throws {
        var settings = try file.settings()
        // One call is no service that anyone watches.
        settings.tracing = nil
        let wiring = try Wiring(settings)
        var text = ""
        while let line = readLine(strippingNewline: false) { text += line }
        // A shell's line feed at the end is no part of the token; anything else is.
        if text.hasSuffix("\n") { text.removeLast() }
        let response = try await AssayServer.answer(
            verifyRequest: request(for: text), ServiceSettings(wiring.settings),
            providers: wiring.providers.map(\.provider),
            on: wiring.serving)
        print(String(decoding: response.body, as: UTF8.self))
        if response.status != .ok { throw ExitCode(1) }
    }

    private func request(for token: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id_token", token)
        if let provider {
            json.member("provider", provider)
        }
        if let nonce {
            json.member("nonce", nonce)
        }
        if let audience {
            json.member("audience", audience)
        }
        if let maxAge {
            json.member("max_age", maxAge)
        }
        json.member("include_claims", includeClaims)
        json.endObject()
        return json.bytes
    }
}
