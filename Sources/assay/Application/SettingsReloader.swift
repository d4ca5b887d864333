import HTTP
import NIOPosix
import Service
import Settings

/// Applies changes of the settings file, and of the lists of issuers that it names, to the running service: when a file
/// has changed, or on SIGHUP.
///
/// They are read and checked as a whole, as at the start. All of it is applied, or nothing.
actor SettingsReloader {
    /// The current settings.
    private(set) var settings: Settings
    private var providers: [ProviderFactory.ConfiguredProvider]
    private let file: SettingsFile
    private let service: AssayService
    private let factory: ProviderFactory
    /// Those of the last settings, as they were then: the files that they are about may have changed since.
    private var warnings: [String]
    private let configurations: ConfigurationTelemetry
    private let log: Log

    private static let pollInterval = Duration.seconds(1)
    /// How long a change must be stable: at most the poll interval, so that the second poll applies it.
    private static let rest = Interval.seconds(1)

    /// - Parameters:
    ///   - settings: the current settings, read from `file`.
    ///   - providers: the providers that `factory` created from them.
    init(
        of service: AssayService, running settings: Settings, providers: [ProviderFactory.ConfiguredProvider],
        from file: SettingsFile, factory: ProviderFactory, configurations: ConfigurationTelemetry, log: Log
    ) {
        self.service = service
        self.settings = settings
        warnings = settings.allWarnings
        self.providers = providers
        self.file = file
        self.factory = factory
        self.configurations = configurations
        self.log = log
    }

    private enum Occasion { case signal, poll }

    /// What the files hold at one time.
    private struct Observed: Equatable, Sendable {
        let content: SettingsFile.Content
        let lists: IssuerListVersions
    }

    /// The versions of the lists of issuers, away from this actor, because a disk may hang.
    private static func current(_ lists: IssuerListVersions) async -> IssuerListVersions {
        (try? await NIOThreadPool.singleton.runIfActive { lists.current }) ?? lists
    }

    /// Reads the file at each poll and each signal, one at a time, until the task is cancelled.
    func run(_ signals: ReloadSignals) async {
        let (occasions, source) = AsyncStream.makeStream(of: Occasion.self)
        let polling = Task {
            while (try? await Task.sleep(for: Self.pollInterval)) != nil { source.yield(.poll) }
        }
        let listening = Task { await signals.each { source.yield(.signal) } }
        defer {
            polling.cancel()
            listening.cancel()
        }
        var read = Observed(content: file.content, lists: IssuerListVersions(readBy: settings))
        var watch = FileChangeDebouncer(read: read, rest: Self.rest)
        for await occasion in occasions {
            let observed = Observed(content: await file.readAgain(), lists: await Self.current(read.lists))
            // A signal means that the files are complete.
            guard watch.observe(observed, at: SystemClocks.monotonic()) || occasion == .signal else { continue }
            let isTaken = await take(observed.content)
            // After a refusal, what was observed is not tried again until it changes.
            read = Observed(
                content: observed.content, lists: isTaken ? IssuerListVersions(readBy: settings) : observed.lists)
            watch.didRead(read)
        }
    }

    /// - Returns: whether the settings are used now.
    private func take(_ content: SettingsFile.Content) async -> Bool {
        do {
            var settings = try file.settings(content)
            settings.keepDerivedLimits(of: self.settings)
            let fixed = settings.changesThatNeedRestart(from: self.settings)
            guard fixed.isEmpty else {
                let names = fixed.joined(separator: ", ")
                throw ConfigurationError(
                    "\(file.path): \(names) can't change while the service runs: restart it, or undo the change")
            }
            let changes = settings.changes(from: self.settings)
            try await change(to: settings)
            await service.reloadFiles()
            configurations.recordSuccess(atUnixSeconds: SystemClocks.unixSeconds())
            log.write(
                .info, "configuration reloaded",
                [("providers", .number(Int64(settings.providers.count))), ("changed", .texts(changes))])
            return true
        } catch {
            configurations.recordFailure()
            log.write(
                .warning, "configuration rejected, still using the previous one", [("reason", .text("\(error)"))])
            return false
        }
    }

    private func change(to settings: Settings) async throws {
        let providers = try factory.providers(settings, after: self.providers)
        var serviceSettings = ServiceSettings(settings)
        serviceSettings.clientKeys = factory.publishedKeys(settings)
        try await service.change(to: serviceSettings, providers: providers.map(\.provider))
        log.change(minimumLevel: Log.Level(settings.log))
        let warnings = settings.allWarnings
        let known = Set(self.warnings)
        for warning in warnings where !known.contains(warning) { log.warn(ofRisk: warning) }
        self.warnings = warnings
        self.settings = settings
        self.providers = providers
    }
}

/// The versions of the files with lists of issuers that the settings name.
///
/// The version of the file that a link leads to: Kubernetes replaces the link to the directory of a mounted file.
private struct IssuerListVersions: Equatable, Sendable {
    private let versions: [String: SmallFile.Version?]

    /// Those with which the settings were read.
    init(readBy settings: Settings) {
        let files = settings.providers.compactMap(\.issuersFile)
        versions = Dictionary(files.map { ($0.path, $0.version) }, uniquingKeysWith: { $1 })
    }

    /// Those of the files now.
    private init(paths: some Sequence<String>) {
        versions = Dictionary(paths.map { ($0, SmallFile.version(atPath: $0)) }, uniquingKeysWith: { $1 })
    }

    /// Those of the same files now. Blocks.
    var current: IssuerListVersions { IssuerListVersions(paths: versions.keys) }
}
