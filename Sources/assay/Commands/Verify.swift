import ArgumentParser
import Verification

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify one ID Token from standard input.",
        discussion: """
            Prints the response of POST /v1/verify. The exit code is 0 for an identity, and 1 for a problem.

              assay verify --config assay.yaml --provider apple --nonce "$nonce" < token.txt
              assay verify --preset apple --audience com.example.app --nonce "$nonce" < token.txt
            """)

    @OptionGroup var source: SettingsSource

    @OptionGroup var signIn: SignInOptions

    @Flag(help: "Add the token's verified claims.")
    var includeClaims = false

    func validate() throws {
        guard source.preset == nil || signIn.provider == nil else {
            throw ValidationError("--preset selects the provider; omit --provider")
        }
    }

    func run() async throws {
        let (settings, provider) = try source.settings(audience: signIn.audience)
        let token = SignInOptions.tokenFromStandardInput()
        let application = try Application(forOneCall: settings, of: token)
        let request: VerifyRequest
        do throws(Problem) {
            request = try signIn.request(for: token, provider: provider, includingClaims: includeClaims)
        } catch {
            print(String(decoding: SingleVerification.Answer(error).text, as: UTF8.self))
            throw ExitCode(1)
        }
        let verification = try await application.singleVerification()
        defer { verification.stop() }
        let answer = try await verification.verify(request)
        print(String(decoding: answer.text, as: UTF8.self))
        // The service would write these failures to its log.
        if case .keysUnavailable = answer.problem {
            for failure in try await verification.keyFailures() { printToStandardError(failure) }
        }
        if answer.problem != nil { throw ExitCode(1) }
    }
}
