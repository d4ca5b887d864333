import ArgumentParser

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Serves on the service and admin addresses of the settings. On SIGTERM or SIGINT, drains requests in flight and \
            exits with 0. Logs to standard error, one JSON object per line.

            Reloads the settings file when it changes, or on SIGHUP, without failing a request. An invalid file is logged and \
            ignored.
            """)

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let file = file.read()
        let settings = try file.read(file.content, check: FileCheck.faultsAtStart).settings
        try await Application(settings).run(file: file)
    }
}
