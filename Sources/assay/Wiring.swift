import AssayHTTP
import Clocks
import FoundationEssentials
import HTTPListener
import IDToken
import KeySource
import NIOCore
import NIOPosix
import Settings

/// The rooms, built from settings and connected.
struct Wiring: Sendable {
    let log: Log
    let sink: LogSink
    let telemetry: KeyTelemetry
    let providers: [Provider]
    let server: AssayServer.Configuration
    /// Serves requests.
    let serving: MultiThreadedEventLoopGroup
    private let shutdownGrace: Interval
    /// Keeps keys on disk.
    private let disk = NIOThreadPool(numberOfThreads: 1)

    /// - Throws: ``ConfigurationError`` where the environment's proxy settings can't be understood.
    init(_ settings: Settings) throws {
        sink = LogSink()
        log = Log(
            to: sink, from: Log.Level(rawValue: settings.log.level) ?? .info,
            unixMilliseconds: SystemClocks.unixMilliseconds)
        telemetry = KeyTelemetry(log: log)
        serving = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
        shutdownGrace = .seconds(settings.shutdownGraceSeconds)
        let proxy: ProxyEnvironment?
        do {
            proxy = try ProxyEnvironment(ProcessInfo.processInfo.environment)
        } catch {
            throw ConfigurationError(text: error.message)
        }
        disk.start()
        providers = Self.providers(settings, proxy, telemetry, disk)
        server = Self.server(settings)
        let descriptors = DescriptorLimit.raise()
        // What connections don't need, key fetches, files and the other listener may.
        if descriptors < settings.limits.maximumConnections + 256 {
            log.write(
                .warning, "risky setting",
                [
                    (
                        "setting",
                        .text(
                            "limits.max_connections is more than the \(descriptors) file descriptors allow (ulimit -n)")
                    )
                ])
        }
        for warning in settings.warnings { log.write(.warning, "risky setting", [("setting", .text(warning))]) }
    }

    private static func providers(
        _ settings: Settings, _ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry, _ disk: NIOThreadPool
    ) -> [Provider] {
        // Keys live on a loop of their own, so that a slow handshake never sits on one that serves.
        let keysLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        func file(_ path: String) -> FileKeyFetcher {
            FileKeyFetcher(path: path, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds)
        }
        return settings.providers.map { provider in
            var rules = KeyRules()
            let fetcher: any KeyFetching
            var fallback: FileKeyFetcher?
            var archive: KeyArchive?
            switch provider.keys {
            case .file(let path):
                fetcher = file(path)
                rules = .file
            case .jwksURI(let address, let fallbackFile):
                fetcher = httpFetcher(.jwks(address: address), provider, proxy, keysLoop)
                fallback = fallbackFile.map(file)
                archive = Self.archive(provider, address, settings)
            case .certificates(let address, let fallbackFile):
                fetcher = httpFetcher(.certificates(address: address), provider, proxy, keysLoop)
                fallback = fallbackFile.map(file)
                archive = Self.archive(provider, address, settings)
            case .discovery(let url, let documentIssuer, let fallbackFile):
                let issuer = provider.policy.issuer
                let address = url ?? ProviderMetadata.address(forIssuer: issuer)
                fetcher = httpFetcher(
                    .discovery(
                        address: address, issuer: documentIssuer ?? issuer,
                        readsAlgorithms: provider.policy.algorithms == nil),
                    provider, proxy, keysLoop)
                fallback = fallbackFile.map(file)
                archive = Self.archive(provider, address, settings)
            }
            rules.staleFor = .seconds(settings.keys.staleForSeconds)
            let id = provider.policy.id
            let store = KeyStore(
                rules: rules, fetcher: fetcher, fallback: fallback, archive: archive, threads: disk, on: keysLoop
            ) { telemetry.record($0, provider: id) }
            return Provider(policy: provider.policy, isOptional: provider.isOptional, keys: store)
        }
    }

    private static func archive(
        _ provider: ProviderSettings, _ location: String, _ settings: Settings
    ) -> KeyArchive? {
        settings.cacheDirectory.map { directory in
            KeyArchive(
                directory: directory, provider: provider.policy.id, issuer: provider.policy.issuer, location: location,
                staleFor: .seconds(settings.keys.staleForSeconds))
        }
    }

    private static func httpFetcher(
        _ location: ProviderKeyFetcher.Location, _ provider: ProviderSettings, _ proxy: ProxyEnvironment?,
        _ loop: any EventLoop
    ) -> ProviderKeyFetcher {
        let documents = DocumentFetcher(
            rules: provider.network, proxy: proxy, loop: loop, unixSeconds: SystemClocks.unixSeconds)
        return ProviderKeyFetcher(location, documents: documents, unixSeconds: SystemClocks.unixSeconds)
    }

    private static func server(_ settings: Settings) -> AssayServer.Configuration {
        var service = ServiceSettings(openAPI: PackageResources.openapi_yaml)
        service.maximumBody = settings.limits.maximumBody
        service.maximumBatchBody = settings.limits.maximumBatchBody
        service.keysTimeout = .seconds(settings.limits.keysTimeoutSeconds)
        service.callerKeys = CallerKeys(digests: settings.apiKeyDigests)
        service.operatorKeys = CallerKeys(digests: settings.operatorKeyDigests)
        service.logsRequests = settings.log.requests
        // Each event loop has a share of its own, so that remembering takes no lock.
        service.rememberedSignatures =
            (settings.verifiedTokenCacheEntries + System.coreCount - 1) / System.coreCount
        var configuration = AssayServer.Configuration(
            service: ListenAddress(settings.service.listen), admin: ListenAddress(settings.admin.listen),
            settings: service, version: version)
        configuration.serviceTLS = settings.service.tls.map(TLSFiles.init)
        configuration.adminTLS = settings.admin.tls.map(TLSFiles.init)
        configuration.limits.maximumHeader = settings.limits.maximumHeader
        configuration.limits.maximumBuffered = settings.limits.maximumBuffered
        configuration.limits.maximumConnections = settings.limits.maximumConnections
        configuration.limits.maximumInFlight = settings.limits.maximumInFlight
        configuration.limits.requestTimeoutSeconds = settings.limits.requestTimeoutSeconds
        configuration.limits.idleTimeoutSeconds = settings.limits.idleTimeoutSeconds
        return configuration
    }

    /// Runs the service until the process is told to stop.
    ///
    /// - Parameter started: called once both listeners are bound, with the service's address.
    /// - Throws: ``ConfigurationError`` where an address can't be bound.
    func run(started: @escaping @Sendable (String) async throws -> Void = { _ in }) async throws {
        // Before anyone learns that we listen: whoever then tells us to stop must be heard.
        let signals = await StopSignals()
        let running: AssayServer
        do {
            running = try await AssayServer.start(
                server, providers: providers, telemetry: telemetry, on: serving, log: log, sink: sink)
        } catch {
            throw ConfigurationError(text: "\(error)")
        }
        try await started(running.serviceAddress)
        await signals.wait()
        await running.stop(grace: shutdownGrace)
        await waitForDisk()
    }
}

extension Wiring {
    /// Lets keys that were fetched a moment ago be kept, if the disk takes them.
    private func waitForDisk() async {
        let loop = serving.next()
        let done = loop.makePromise(of: Void.self)
        // The pool has one thread, so what comes last is done last.
        disk.submit { _ in done.succeed() }
        loop.scheduleTask(in: .seconds(1)) { done.succeed() }
        try? await done.futureResult.get()
    }
}
