import HTTP
import NIOPosix
import Service
import Settings
import UnixSignals

/// Applies changes of the settings file, and of the lists of issuers that it names, to the running service: when a file
/// has changed, or on SIGHUP.
///
/// They are read and checked as a whole, as at the start. All of it is applied, or nothing.
actor SettingsReloader {
    /// The current settings.
    private(set) var settings: Settings
    private var providers: [ProviderFactory.ConfiguredProvider]
    /// Those of the last settings, as they were then: the files that they are about may have changed since.
    private var warnings: [String]
    private let file: SettingsFile
    private let service: AssayService
    /// Its settings and providers are those of the start.
    private let application: Application

    private static let pollInterval = Duration.seconds(1)
    /// How long a change must be stable: at most the poll interval, so that the second poll applies it.
    private static let rest = Interval.seconds(1)

    /// - Parameters:
    ///   - application: with the settings that were read from `file`.
    ///   - service: which it runs.
    init(_ application: Application, _ service: AssayService, from file: SettingsFile) {
        self.application = application
        self.service = service
        self.file = file
        settings = application.settings
        providers = application.providers
        warnings = application.settings.allWarnings
    }

    private enum Occasion { case signal, poll }

    /// The versions of the files with lists of issuers, by path.
    ///
    /// The version of the file that a link leads to: Kubernetes replaces the link to the directory of a mounted file.
    fileprivate typealias IssuerLists = [String: SmallFile.Version?]

    /// What the files hold at one time.
    private struct Observed: Equatable, Sendable {
        let content: SettingsFile.Content
        let lists: IssuerLists
    }

    /// The versions of the same lists now, read away from this actor, because a disk may hang.
    private static func current(_ lists: IssuerLists) async -> IssuerLists {
        let current = try? await NIOThreadPool.singleton.runIfActive {
            Dictionary(uniqueKeysWithValues: lists.keys.map { ($0, SmallFile.version(atPath: $0)) })
        }
        return current ?? lists
    }

    /// Reads the file at each poll and each signal, one at a time, until the task is cancelled.
    ///
    /// - Parameter signals: each SIGHUP; several in quick succession may count as one.
    func run(_ signals: UnixSignalsSequence) async {
        let (occasions, source) = AsyncStream.makeStream(of: Occasion.self)
        let polling = Task {
            while (try? await Task.sleep(for: Self.pollInterval)) != nil { source.yield(.poll) }
        }
        let listening = Task { for await _ in signals { source.yield(.signal) } }
        defer {
            polling.cancel()
            listening.cancel()
        }
        var read = Observed(content: file.content, lists: settings.issuerLists)
        var watch = FileChangeDebouncer(read: read, rest: Self.rest)
        for await occasion in occasions {
            let observed = Observed(content: await file.readAgain(), lists: await Self.current(read.lists))
            // A signal means that the files are complete.
            guard watch.observe(observed, at: SystemClocks.monotonic()) || occasion == .signal else { continue }
            let isTaken = await take(observed.content)
            // After a refusal, what was observed is not tried again until it changes.
            read = Observed(
                content: observed.content, lists: isTaken ? settings.issuerLists : observed.lists)
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
            application.configurations.recordSuccess(atUnixSeconds: SystemClocks.unixSeconds())
            application.log.write(
                .info, "configuration reloaded",
                [("providers", .number(Int64(settings.providers.count))), ("changed", .texts(changes))])
            return true
        } catch {
            application.configurations.recordFailure()
            application.log.write(
                .warning, "configuration rejected, still using the previous one", [("reason", .text("\(error)"))])
            return false
        }
    }

    private func change(to settings: Settings) async throws {
        let providers = try application.factory.providers(settings, after: self.providers)
        var serviceSettings = ServiceSettings(settings)
        serviceSettings.clientKeys = application.factory.publishedKeys(settings)
        try await service.change(to: serviceSettings, providers: providers.map(\.provider))
        application.log.change(minimumLevel: Log.Level(settings.log))
        let warnings = settings.allWarnings
        let known = Set(self.warnings)
        for warning in warnings where !known.contains(warning) { application.log.warn(ofRisk: warning) }
        self.warnings = warnings
        self.settings = settings
        self.providers = providers
    }
}

extension Settings {
    /// Those with which the settings were read.
    fileprivate var issuerLists: SettingsReloader.IssuerLists {
        Dictionary(providers.compactMap(\.issuersFile).map { ($0.path, $0.version) }, uniquingKeysWith: { $1 })
    }
}
