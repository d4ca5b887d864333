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
        providers = Self.providers(settings, proxy, telemetry)
        server = Self.server(settings)
        for warning in settings.warnings { log.write(.warning, "risky setting", [("setting", .text(warning))]) }
    }

    private static func providers(
        _ settings: Settings, _ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry
    ) -> [Provider] {
        // Keys live on a loop of their own, so that a slow handshake never sits on one that serves.
        let keysLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        // Resolving a name blocks a thread, and so does the disk; neither has to wait for the other.
        let resolvers = NIOThreadPool(numberOfThreads: 4)
        let threads = NIOThreadPool(numberOfThreads: 1)
        resolvers.start()
        threads.start()
        return settings.providers.map { provider in
            var rules = KeyRules()
            rules.staleFor = .seconds(settings.keys.staleForSeconds)
            let fetcher: any KeyFetching
            var archive: KeyArchive?
            switch provider.keys {
            case .file(let path):
                fetcher = FileKeyFetcher(path: path, threads: threads, unixSeconds: SystemClocks.unixSeconds)
                // A file costs nothing to read again, so a change to it is seen soon.
                rules.minimumLifetime = .seconds(10)
                rules.maximumLifetime = .seconds(10)
            case .jwksURI(let address):
                fetcher = httpFetcher(.jwks(address: address), provider, proxy, keysLoop, resolvers)
                archive = Self.archive(provider, address, settings, rules)
            case .discovery(let url):
                let issuer = provider.policy.issuer
                let address = url ?? ProviderMetadata.address(forIssuer: issuer)
                fetcher = httpFetcher(
                    .discovery(address: address, issuer: issuer), provider, proxy, keysLoop, resolvers)
                archive = Self.archive(provider, address, settings, rules)
            }
            let id = provider.policy.id
            let store = KeyStore(
                rules: rules, fetcher: fetcher, archive: archive, threads: threads, on: keysLoop
            ) { telemetry.record($0, provider: id) }
            return Provider(policy: provider.policy, isOptional: provider.isOptional, keys: store)
        }
    }

    private static func archive(
        _ provider: ProviderSettings, _ location: String, _ settings: Settings, _ rules: KeyRules
    ) -> KeyArchive? {
        settings.cacheDirectory.map { directory in
            KeyArchive(
                directory: directory, provider: provider.policy.id, issuer: provider.policy.issuer, location: location,
                staleFor: rules.staleFor)
        }
    }

    private static func httpFetcher(
        _ location: ProviderKeyFetcher.Location, _ provider: ProviderSettings, _ proxy: ProxyEnvironment?,
        _ loop: any EventLoop, _ resolvers: NIOThreadPool
    ) -> ProviderKeyFetcher {
        var network = NetworkRules()
        network.allowHTTP = provider.network.allowHTTP
        network.allowPrivateAddresses = provider.network.allowPrivateAddresses
        network.caFile = provider.network.caFile
        let documents = DocumentFetcher(rules: network, proxy: proxy, loop: loop, resolverThreads: resolvers)
        return ProviderKeyFetcher(location, documents: documents, unixSeconds: SystemClocks.unixSeconds)
    }

    private static func server(_ settings: Settings) -> AssayServer.Configuration {
        var service = ServiceSettings(openAPI: PackageResources.openapi_yaml)
        service.maximumBody = settings.limits.maximumBody
        service.maximumBatchBody = settings.limits.maximumBatchBody
        service.keysTimeout = .seconds(settings.limits.keysTimeoutSeconds)
        service.callerKeys = CallerKeys(digests: settings.apiKeyDigests)
        service.logsRequests = settings.log.requests
        var configuration = AssayServer.Configuration(
            service: ListenAddress(settings.service), admin: ListenAddress(settings.admin), settings: service,
            version: version)
        configuration.limits.maximumHeader = settings.limits.maximumHeader
        configuration.limits.maximumBuffered = settings.limits.maximumBuffered
        configuration.limits.maximumConnections = settings.limits.maximumConnections
        configuration.limits.maximumInFlight = settings.limits.maximumInFlight
        configuration.limits.requestTimeoutSeconds = settings.limits.requestTimeoutSeconds
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
    }
}

extension ListenAddress {
    fileprivate init(_ listen: Settings.Listen) {
        self =
            switch listen {
            case .network(let host, let port): .network(host: host, port: port)
            case .unixSocket(let path): .unixSocket(path: path)
            }
    }
}
