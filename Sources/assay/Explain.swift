import ArgumentParser
import AssayHTTP
import FoundationEssentials
import HTTPListener
import JSON
import NIOHTTP1

#if canImport(Glibc)
import Glibc
#endif

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell in plain words why an ID Token is refused.",
        discussion: """
            Makes every check that verifying makes and goes on after one that fails; prints what was expected, what was found, \
            and what to change where. Of secrets it shows a length and the beginning of a hash. Exits with 0 if the token is \
            valid, else with 1.

              assay explain --config assay.yaml --provider apple --nonce "$nonce" < token.txt
            """)

    @OptionGroup var file: ConfigurationFile

    @OptionGroup var signIn: SignInOptions

    @Flag(help: "Print what POST /v1/explain would answer, as JSON.")
    var json = false

    @Argument(
        help: ArgumentHelp(
            "The token; - or nothing: from standard input, where no other user of the machine can see it."))
    var token: String?

    func run() async throws {
        let wiring = try Wiring(forOneCall: file.settings())
        let token = self.token.flatMap { $0 == "-" ? nil : $0 } ?? SignInOptions.tokenFromStandardInput()
        let response = try await AssayServer.answer(
            .explain, signIn.request(for: token), ServiceSettings(wiring.settings),
            providers: wiring.providers.map(\.provider), on: wiring.serving)
        let answer = try JSONTree(readingObject: response.body).object ?? [:]
        if json {
            print(String(decoding: response.body, as: UTF8.self))
        } else {
            let isColoured = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
            for line in ExplanationText(answer, isColoured: isColoured).lines { print(line) }
        }
        if answer["valid"] != .bool(true) { throw ExitCode(1) }
    }
}
