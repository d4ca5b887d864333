#if canImport(Glibc)
import ArgumentParser
import Glibc
import OpenSSL

@main
enum Entry {
    static func main() async throws {
        // A fetch that is still in progress may use OpenSSL until the process has ended.
        try disableOpenSSLExitHandler()
        await AssayCommand.main()
    }
}

/// The command `assay`.
struct AssayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assay",
        abstract: "Verifies ID Tokens for app backends, over HTTP.",
        discussion: """
            An app backend runs assay as a sidecar and asks: is this ID Token genuine, is it for me, is it for this \
            sign-in, and who is it?

              assay dev                          try it out, without an account
              assay serve --config assay.yaml    run the service
              assay explain < token.txt          see why a token is refused
              assay config check                 check the settings file
              assay presets                      list the presets
              assay apple check                  see whether Apple accepts your key
            """,
        version: "assay \(version) (\(openSSLVersion()))",
        subcommands: [
            Serve.self, Verify.self, Explain.self, Config.self, Presets.self, Healthcheck.self, APIKey.self, Key.self,
            ClientRegistration.self, Apple.self, Dev.self,
        ])
}

/// The version of this service.
let version = "0.1.0"

#endif

/// Writes a human-readable line to standard error, because standard output is for programs.
func printToStandardError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // There is nowhere to report a failure.
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

extension String {
    /// This text, padded with spaces to a width in characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}
