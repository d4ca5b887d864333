import ArgumentParser

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Listens on the service and admin addresses of the settings until it gets SIGTERM or SIGINT; then finishes what is \
            under way and exits with 0. Logs to standard error, one JSON object a line.
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        try await Wiring(file.settings()).run()
    }
}
