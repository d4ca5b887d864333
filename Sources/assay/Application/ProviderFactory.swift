import Verification
import Service
import Host
import IDToken
import KeySource
import NIOCore
import NIOPosix
import Settings
import Telemetry

/// Creates the service's providers from the settings.
struct ProviderFactory: Sendable {
    private let proxy: ProxyEnvironment?
    private let telemetry: KeyTelemetry
    /// `nil` if fetches are not traced.
    private let tracer: SpanTracer?
    private let disk: NIOThreadPool
    /// Keys live on their own loop, so that a slow handshake never delays a loop that serves requests.
    private let keysLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    /// A provider with the location of its keys.
    struct ConfiguredProvider: Sendable {
        let provider: Provider
        let origin: KeyStoreIdentity
    }

    /// - Parameter disk: for blocking writes of keys.
    init(_ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry, tracer: SpanTracer?, _ disk: NIOThreadPool) {
        self.proxy = proxy
        self.telemetry = telemetry
        self.tracer = tracer
        self.disk = disk
    }

    /// The providers of the settings, in their order.
    ///
    /// - Parameter running: the current providers. A provider whose keys come from the same location keeps its key
    ///   store with all its keys.
    func providers(_ settings: Settings, after running: [ConfiguredProvider] = []) -> [ConfiguredProvider] {
        let staleIfError = Interval.seconds(settings.keys.staleIfErrorSeconds)
        return settings.providers.map { provider in
            let origin = KeyStoreIdentity(provider)
            let known = running.first { $0.origin == origin }?.provider.keys
            known?.change(staleIfError: staleIfError)
            let keys = known ?? keyStore(provider, staleIfError, settings.cacheDirectory)
            return ConfiguredProvider(
                provider: Provider(
                    policy: provider.policy, isOptional: provider.isOptional, usesNoncesOnce: provider.usesNoncesOnce,
                    notifications: provider.notifications, keys: keys),
                origin: origin)
        }
    }

    private func keyStore(
        _ provider: ProviderSettings, _ staleIfError: Interval, _ cacheDirectory: String?
    ) -> KeyStore {
        let id = provider.policy.id
        var rules = KeyRules()
        let fetcher: any KeyFetching
        var fallback: FileKeyFetcher?
        var archive: KeyArchive?
        switch provider.keys {
        case .file(let path):
            fetcher = file(path)
            rules = .file
        case .network(let location, let fallbackFile):
            let spans = tracer.map { KeyFetchSpans($0, provider: id) }
            let documents = DocumentFetcher(
                rules: provider.network, proxy: proxy, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds,
                onExchange: spans?.record)
            let provided = ProviderKeyFetcher(location, documents: documents, unixSeconds: SystemClocks.unixSeconds)
            fetcher = spans.map { TracedKeyFetcher(provided, $0) } ?? provided
            fallback = fallbackFile.map(file)
            archive = cacheDirectory.map {
                KeyArchive(
                    directory: $0, provider: id, issuer: provider.policy.issuer,
                    location: location.identity(under: provider.network), staleIfError: staleIfError)
            }
        }
        rules.staleIfError = staleIfError
        return KeyStore(
            rules: rules, fetcher: fetcher, fallback: fallback, archive: archive, threads: disk, on: keysLoop
        ) { [telemetry] in telemetry.record($0, provider: id) }
    }

    private func file(_ path: String) -> FileKeyFetcher {
        FileKeyFetcher(path: path, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds)
    }
}

extension ProxyEnvironment {
    /// The proxy from a process's environment.
    ///
    /// - Throws: ``ConfigurationError`` if it is invalid.
    static func read(from environment: [String: String]) throws(ConfigurationError) -> ProxyEnvironment? {
        do throws(FetchFailure) {
            return try ProxyEnvironment(environment)
        } catch {
            throw ConfigurationError(text: error.message)
        }
    }
}
