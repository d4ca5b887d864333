import ArgumentParser
import AssayHTTP
import HTTPListener
import NIOHTTP1

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one ID Token from standard input.",
        discussion: """
            Prints what POST /v1/verify would answer: the identity, exit code 0; or the problem, exit code 1.

              assay verify --config assay.yaml --provider apple --nonce "$nonce" < token.txt
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var signIn: SignInOptions

    @Flag(help: "Add the token's verified claims.")
    var includeClaims = false

    func run() async throws {
        let wiring = try Wiring(forOneCall: file.settings())
        let token = SignInOptions.tokenFromStandardInput()
        let response = try await AssayServer.answer(
            .verify, signIn.request(for: token, includingClaims: includeClaims), ServiceSettings(wiring.settings),
            providers: wiring.providers.map(\.provider), on: wiring.serving)
        print(String(decoding: response.body, as: UTF8.self))
        if response.status != .ok { throw ExitCode(1) }
    }
}
