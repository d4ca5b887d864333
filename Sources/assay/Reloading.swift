import AssayHTTP
import Clocks
import Settings

/// Has the running service change over to what its settings file says: when the file has changed, or at a SIGHUP.
///
/// A file is read and checked as a whole, as at the start, and taken as a whole or not at all.
actor Reloading {
    /// The settings in force.
    private(set) var settings: Settings
    private var providers: [ProviderFactory.Made]
    private let file: SettingsFile
    private let server: AssayServer
    private let wiring: Wiring

    /// Time between two looks at the file.
    private static let lookInterval = Duration.seconds(2)
    /// How long a change must have been there: less than between two looks, so that the second look settles it.
    private static let rest = Interval.seconds(1)

    init(of server: AssayServer, wiredBy wiring: Wiring, from file: SettingsFile) {
        self.file = file
        self.server = server
        self.wiring = wiring
        settings = wiring.settings
        providers = wiring.providers
    }

    private enum Occasion { case signal, look }

    /// Reads the file again on every occasion, one after the other, until it is cancelled.
    func run(_ signals: ReloadSignals) async {
        let (occasions, source) = AsyncStream.makeStream(of: Occasion.self)
        let looking = Task {
            while (try? await Task.sleep(for: Self.lookInterval)) != nil { source.yield(.look) }
        }
        let listening = Task { await signals.each { source.yield(.signal) } }
        defer {
            looking.cancel()
            listening.cancel()
        }
        var watch = ContentWatch(read: file.content, rest: Self.rest)
        for await occasion in occasions {
            let content = await file.readAgain()
            // Whoever asks for it says that the file is whole.
            guard watch.look(content, at: SystemClocks.monotonic()) || occasion == .signal else { continue }
            watch.didRead(content)
            await take(content)
        }
    }

    private func take(_ content: SettingsFile.Content) async {
        do {
            var settings = try file.settings(content)
            settings.keepDerivedLimits(of: self.settings)
            let fixed = settings.changesThatNeedRestart(from: self.settings)
            guard fixed.isEmpty else {
                let names = fixed.joined(separator: ", ")
                throw ConfigurationError(
                    text: "\(file.path): \(names) can't change while the service runs: restart it, or undo the change")
            }
            let changes = settings.changes(from: self.settings)
            try await change(to: settings)
            await server.reloadCertificates()
            wiring.configurations.recordSuccess(atUnixSeconds: SystemClocks.unixSeconds())
            wiring.log.write(
                .info, "configuration reloaded",
                [("providers", .number(Int64(settings.providers.count))), ("changed", .texts(changes))])
        } catch {
            wiring.configurations.recordFailure()
            wiring.log.write(
                .warning, "configuration refused, the one before stays", [("reason", .text("\(error)"))])
        }
    }

    private func change(to settings: Settings) async throws {
        let providers = wiring.factory.providers(settings, after: self.providers)
        try await server.change(to: ServiceSettings(settings), providers: providers.map(\.provider))
        wiring.log.change(minimumLevel: Log.Level(settings.log))
        let known = self.settings.warnings
        for warning in settings.warnings where !known.contains(warning) { wiring.warn(of: warning) }
        self.settings = settings
        self.providers = providers
    }
}
