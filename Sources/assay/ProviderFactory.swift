import AssayHTTP
import Clocks
import IDToken
import KeySource
import NIOCore
import NIOPosix
import Settings

/// Makes the service's providers of settings.
struct ProviderFactory: Sendable {
    private let proxy: ProxyEnvironment?
    private let telemetry: KeyTelemetry
    private let disk: NIOThreadPool
    /// Keys live on a loop of their own, so that a slow handshake never sits on one that serves.
    private let keysLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    /// A provider, and where its keys come from.
    struct Made: Sendable {
        let provider: Provider
        let origin: KeyOrigin
    }

    /// - Parameter disk: for the work of keeping keys, which blocks.
    init(_ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry, _ disk: NIOThreadPool) {
        self.proxy = proxy
        self.telemetry = telemetry
        self.disk = disk
    }

    /// The providers of settings, in their order.
    ///
    /// - Parameter running: those of the settings before. Whose keys come from where they came from goes on with the key
    ///   store it has, and all that it holds.
    func providers(_ settings: Settings, after running: [Made] = []) -> [Made] {
        let staleFor = Interval.seconds(settings.keys.staleForSeconds)
        return settings.providers.map { provider in
            let origin = KeyOrigin(provider)
            let known = running.first { $0.origin == origin }?.provider.keys
            known?.change(staleFor: staleFor)
            let keys = known ?? keyStore(provider, staleFor, settings.cacheDirectory)
            return Made(
                provider: Provider(policy: provider.policy, isOptional: provider.isOptional, keys: keys),
                origin: origin)
        }
    }

    private func keyStore(
        _ provider: ProviderSettings, _ staleFor: Interval, _ cacheDirectory: String?
    ) -> KeyStore {
        let (id, issuer) = (provider.policy.id, provider.policy.issuer)
        var rules = KeyRules()
        let fetcher: any KeyFetching
        var fallback: FileKeyFetcher?
        var location: String?
        switch provider.keys {
        case .file(let path):
            fetcher = file(path)
            rules = .file
        case .jwksURI(let address, let fallbackFile):
            fetcher = httpFetcher(.jwks(address: address), provider)
            fallback = fallbackFile.map(file)
            location = address
        case .certificates(let address, let fallbackFile):
            fetcher = httpFetcher(.certificates(address: address), provider)
            fallback = fallbackFile.map(file)
            location = address
        case .discovery(let url, let documentIssuer, let fallbackFile):
            let address = url ?? ProviderMetadata.address(forIssuer: issuer)
            let readsAlgorithms = provider.policy.algorithms == nil
            fetcher = httpFetcher(
                .discovery(address: address, issuer: documentIssuer ?? issuer, readsAlgorithms: readsAlgorithms),
                provider)
            fallback = fallbackFile.map(file)
            location = address
        }
        rules.staleFor = staleFor
        // What is in a file needs no second one.
        let archive = location.flatMap { location in
            cacheDirectory.map {
                KeyArchive(directory: $0, provider: id, issuer: issuer, location: location, staleFor: staleFor)
            }
        }
        return KeyStore(
            rules: rules, fetcher: fetcher, fallback: fallback, archive: archive, threads: disk, on: keysLoop
        ) { [telemetry] in telemetry.record($0, provider: id) }
    }

    private func file(_ path: String) -> FileKeyFetcher {
        FileKeyFetcher(path: path, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds)
    }

    private func httpFetcher(
        _ location: ProviderKeyFetcher.Location, _ provider: ProviderSettings
    ) -> ProviderKeyFetcher {
        let documents = DocumentFetcher(
            rules: provider.network, proxy: proxy, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds)
        return ProviderKeyFetcher(location, documents: documents, unixSeconds: SystemClocks.unixSeconds)
    }
}

extension ProxyEnvironment {
    /// The proxy of a process's environment.
    ///
    /// - Throws: ``ConfigurationError`` where it can't be understood.
    static func read(from environment: [String: String]) throws(ConfigurationError) -> ProxyEnvironment? {
        do throws(FetchFailure) {
            return try ProxyEnvironment(environment)
        } catch {
            throw ConfigurationError(text: error.message)
        }
    }
}
