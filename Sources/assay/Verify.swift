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
              assay verify --preset apple --audience com.example.app --nonce "$nonce" < token.txt
            """)

    @OptionGroup var source: SettingsSource

    @OptionGroup var signIn: SignInOptions

    @Flag(help: "Add the token's verified claims.")
    var includeClaims = false

    func validate() throws {
        guard source.preset == nil || signIn.provider == nil else {
            throw ValidationError("--preset is the provider: leave --provider out")
        }
    }

    func run() async throws {
        let (settings, provider) = try source.settings(audience: signIn.audience)
        let wiring = try Wiring(forOneCall: settings)
        let token = SignInOptions.tokenFromStandardInput()
        let request = signIn.request(for: token, provider: provider, includingClaims: includeClaims)
        let answer = try await AssayServer.answer(
            .verify, request, ServiceSettings(wiring.settings), providers: wiring.providers.map(\.provider),
            on: wiring.serving)
        print(String(decoding: answer.response.body, as: UTF8.self))
        // What the log of a service would say.
        if answer.response.status == .serviceUnavailable {
            for failure in answer.keyFailures { printToStandardError(failure) }
        }
        if answer.response.status != .ok { throw ExitCode(1) }
    }
}
