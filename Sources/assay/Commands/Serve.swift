import ArgumentParser

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Listens on the service and admin addresses of the settings until it gets SIGTERM or SIGINT; then finishes what is \
            under way and exits with 0. Logs to standard error, one JSON object a line.

            When the settings file changes, or at a SIGHUP, it is read again: if it is good, the service changes over to it \
            without failing a request; if not, all stays as it was, and the log says why.
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let file = file.read()
        let settings = try file.read(file.content, check: FileCheck.faultsAtStart).settings
        try await Application(settings).run(file: file)
    }
}
