import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import OAuth
import Service
import Settings
import Verification

/// Creates the key stores of providers, and the pools of entries with many issuers.
struct KeyFactory: Sendable {
    private let proxy: ProxyEnvironment?
    private let telemetry: KeyTelemetry
    /// `nil` if fetches are not traced.
    private let tracer: SpanTracer?
    private let disk: NIOThreadPool
    /// For blocking reads of keys of entries with many issuers, which requests wait for.
    private let diskReaders = NIOThreadPool(numberOfThreads: 1)
    /// Keys live on their own loop, so that a slow handshake never delays a loop that serves requests.
    private let loop: any EventLoop
    private let slots: FetchSlots

    /// - Parameter disk: for blocking writes of keys.
    init(_ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry, tracer: SpanTracer?, _ disk: NIOThreadPool) {
        self.proxy = proxy
        self.telemetry = telemetry
        self.tracer = tracer
        self.disk = disk
        diskReaders.start()
        loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        slots = FetchSlots(limit: Settings().keys.maximumFetches, on: loop)
    }

    /// Changes how many fetches may be under way.
    func change(maximumFetches: Int) {
        loop.execute { [slots] in slots.change(limit: maximumFetches) }
    }

    /// A provider's keys: those that it has, with changed rules, or new ones.
    ///
    /// - Parameter demand: until it is raised, new keys are not fetched; `nil`: they are always needed.
    func keys(
        of provider: ProviderSettings, _ known: ProviderKeys?, _ settings: Settings, fetchedOn demand: KeyDemand?
    ) -> ProviderKeys {
        let staleIfError = Interval.seconds(settings.keys.staleIfErrorSeconds)
        if let store = known?.store { store.change(staleIfError: staleIfError) }
        switch provider.keys {
        case .file(let path): return .store(known?.store ?? store(ofFile: path, provider, staleIfError, demand))
        case .network(let location, let fallbackFile):
            return .store(
                known?.store
                    ?? store(of: location, fallbackFile, provider, staleIfError, settings.cacheDirectory, demand))
        case .issuers(let discovery):
            let idleSeconds = settings.keys.idleSeconds(isOpen: provider.issuers?.isOpen == true)
            let rules = IssuerPool.Rules(
                maximumIssuers: provider.maximumIssuers, idleFor: .seconds(idleSeconds), staleIfError: staleIfError)
            guard let pool = known?.pool else {
                return .pool(pool(provider, rules, discovery, settings.cacheDirectory))
            }
            pool.change(rules)
            if let list = provider.issuers?.list { pool.keep { list[$0] != nil } }
            return .pool(pool)
        }
    }

    private func documents(_ provider: ProviderSettings, _ spans: KeyFetchSpans?) -> DocumentFetcher {
        DocumentFetcher(
            rules: provider.network, proxy: proxy, loop: loop, unixSeconds: SystemClocks.unixSeconds,
            onExchange: spans?.record)
    }

    /// The keys of an entry with many issuers: none yet.
    private func pool(
        _ provider: ProviderSettings, _ rules: IssuerPool.Rules, _ discovery: DiscoveryRules, _ cacheDirectory: String?
    ) -> IssuerPool {
        let id = provider.policy.id
        let spans = tracer.map { KeyFetchSpans($0, provider: id) }
        let documents = documents(provider, spans)
        let folder = cacheDirectory.map { IssuerFolder(in: $0, entry: id, maximumFiles: rules.maximumIssuers) }
        let network = provider.network
        let makeStore: IssuerPool.StoreFactory = { [disk, diskReaders, slots, loop] parts in
            let location = discovery.location(ofIssuer: parts.issuer)
            let provided = ProviderKeyFetcher(location, documents: documents)
            let fetcher: any KeyFetching = spans.map { TracedKeyFetcher(provided, $0) } ?? provided
            let archive = folder.map {
                KeyArchive(
                    in: $0, issuer: parts.issuer, location: location.identity(under: network),
                    staleIfError: parts.rules.staleIfError)
            }
            return KeyStore(
                rules: parts.rules, fetcher: fetcher, archive: archive, threads: disk, readers: diskReaders,
                slots: slots, source: parts.source,
                lastUse: parts.lastUse, on: loop, onEvent: parts.onEvent)
        }
        return IssuerPool(
            rules, slots: slots, source: provider.issuers?.isOpen == true ? .open(id: id) : .list(id: id), on: loop,
            makeStore: makeStore
        ) { [telemetry] event, issuer in telemetry.record(event, provider: id, issuer: issuer) }
    }

    private func store(
        ofFile path: String, _ provider: ProviderSettings, _ staleIfError: Interval, _ demand: KeyDemand?
    ) -> KeyStore {
        var rules = KeyRules.file
        rules.staleIfError = staleIfError
        return KeyStore(
            rules: rules, fetcher: demanded(file(path), demand, provider, documents(provider, nil)), archive: nil,
            threads: disk, on: loop,
            onEvent: recorder(provider.policy.id))
    }

    private func store(
        of location: KeyLocation.Network, _ fallbackFile: String?, _ provider: ProviderSettings,
        _ staleIfError: Interval, _ cacheDirectory: String?, _ demand: KeyDemand?
    ) -> KeyStore {
        let id = provider.policy.id
        let spans = tracer.map { KeyFetchSpans($0, provider: id) }
        let documents = documents(provider, spans)
        let provided = ProviderKeyFetcher(location, documents: documents)
        var rules = KeyRules()
        rules.findsKeysByID = location.findsKeysByID
        rules.staleIfError = staleIfError
        // What is fetched without a demand must not replace keys on disk, nor be told from missing keys.
        let archive = (demand == nil ? cacheDirectory : nil).map {
            KeyArchive(
                directory: $0, provider: id, issuer: provider.policy.issuer,
                location: location.identity(under: provider.network), staleIfError: staleIfError)
        }
        return KeyStore(
            rules: rules,
            fetcher: demanded(
                spans.map { TracedKeyFetcher(provided, $0) } ?? provided, demand, provider, documents),
            fallback: demand == nil ? fallbackFile.map(file) : nil, archive: archive, threads: disk, slots: slots,
            on: loop,
            onEvent: recorder(id))
    }

    /// - Parameter demand: until it is raised, no keys are fetched; `nil`: they are always needed.
    private func demanded(
        _ fetcher: any KeyFetching, _ demand: KeyDemand?, _ provider: ProviderSettings, _ documents: DocumentFetcher
    ) -> any KeyFetching {
        guard let demand else { return fetcher }
        return DemandedKeyFetcher(
            fetcher, demand, at: provider.keys, needsEndpoint: provider.introspection?.endpoint == nil,
            documents: documents)
    }

    private func recorder(_ id: String) -> @Sendable (KeyEvent) -> Void {
        { [telemetry] in telemetry.record($0, provider: id) }
    }

    private func file(_ path: String) -> FileKeyFetcher {
        FileKeyFetcher(path: path, loop: loop, unixSeconds: SystemClocks.unixSeconds)
    }
}
