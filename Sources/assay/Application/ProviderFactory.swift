import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import OAuth
import OpenSSL
import Service
import Settings
import Verification

/// Creates the service's providers from the settings.
struct ProviderFactory: Sendable {
    private let proxy: ProxyEnvironment?
    private let telemetry: KeyTelemetry
    private let calls: CallTelemetry
    /// `nil` if fetches are not traced.
    private let tracer: SpanTracer?
    private let disk: NIOThreadPool
    /// Of clients whose settings name no files, by provider and client ID.
    private let credentials: [String: [String: ClientCredential]]
    /// Keys live on their own loop, so that a slow handshake never delays a loop that serves requests.
    private let keysLoop: any EventLoop
    private let fetchSlots: FetchSlots
    /// The same for calls to providers' endpoints. Created when the first provider has clients.
    private static let callsLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let clientFiles = ClientFiles()
    /// Assay's own keys.
    let clientKeys = ClientKeyFiles()

    /// A provider with the location of its keys.
    struct ConfiguredProvider: Sendable {
        let provider: Provider
        let origin: KeyStoreIdentity
        fileprivate let settings: ProviderSettings
        /// The files of its clients.
        fileprivate let files: [ClientFiles.Entry]
    }

    /// - Parameters:
    ///   - disk: for blocking writes of keys.
    ///   - credentials: of clients whose settings name no files, by provider and client ID.
    init(
        _ proxy: ProxyEnvironment?, _ telemetry: KeyTelemetry, _ calls: CallTelemetry, tracer: SpanTracer?,
        _ disk: NIOThreadPool, credentials: [String: [String: ClientCredential]]
    ) {
        self.proxy = proxy
        self.telemetry = telemetry
        self.calls = calls
        self.tracer = tracer
        self.disk = disk
        keysLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        fetchSlots = FetchSlots(limit: Settings().keys.maximumFetches, on: keysLoop)
        self.credentials = credentials
    }

    /// The providers of the settings, in their order.
    ///
    /// - Parameter running: the current providers. A provider whose keys come from the same location keeps its key
    ///   store with all its keys; one whose clients and network are the same keeps their credentials.
    /// - Throws: ``ConfigurationError`` if a client's file can't be used.
    func providers(
        _ settings: Settings, after running: [ConfiguredProvider] = []
    ) throws(ConfigurationError) -> [ConfiguredProvider] {
        // Used only when nothing can fail any more.
        let ownKeys = try clientKeys.prepare(settings.clientKeys)
        let staleIfError = Interval.seconds(settings.keys.staleIfErrorSeconds)
        keysLoop.execute { [fetchSlots] in fetchSlots.change(limit: settings.keys.maximumFetches) }
        var configured: [ConfiguredProvider] = []
        for provider in settings.providers {
            let origin = KeyStoreIdentity(provider)
            let known = running.first { $0.origin == origin }?.provider.keys
            known?.change(staleIfError: staleIfError)
            let keys = known ?? keyStore(provider, staleIfError, settings.cacheDirectory)
            let before = running.first { $0.settings.policy.id == provider.policy.id }
            let (grants, files) = try grants(provider, after: before)
            configured.append(
                ConfiguredProvider(
                    provider: Provider(
                        policy: provider.policy, accessTokens: provider.accessTokens, isOptional: provider.isOptional,
                        usesNoncesOnce: provider.usesNoncesOnce, notifications: provider.notifications,
                        encryption: provider.encryption.map { TokenEncryption($0, clientKeys.keys) }, keys: keys,
                        grants: grants),
                    origin: origin, settings: provider, files: files))
        }
        for provider in running {
            guard let calls = provider.provider.grants?.calls,
                !configured.contains(where: { $0.provider.grants?.calls === calls })
            else { continue }
            calls.stop()
        }
        clientFiles.watch(configured.flatMap(\.files))
        clientKeys.use(ownKeys)
        return configured
    }

    /// A provider's clients, with their credentials.
    ///
    /// - Parameter running: the current provider with this ID; `nil` if there is none.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    private func grants(
        _ provider: ProviderSettings, after running: ConfiguredProvider?
    ) throws(ConfigurationError) -> (ProviderGrants?, [ClientFiles.Entry]) {
        guard !provider.clients.isEmpty else { return (nil, []) }
        let calls: ProviderCalls
        let files: [ClientFiles.Entry]
        if let running, let known = running.provider.grants?.calls, provider.sharesCalls(with: running.settings) {
            (calls, files) = (known, running.files)
        } else {
            (calls, files) = try newCalls(provider)
        }
        let slots = running?.provider.grants?.slots ?? CallSlots(limit: provider.maximumCalls)
        slots.change(limit: provider.maximumCalls)
        var rules = GrantRules(clients: provider.clients.map(\.client), quirks: provider.quirks)
        rules.usesPKCE = provider.usesPKCE
        rules.allowsUnboundCodes = provider.allowsUnboundCodes
        rules.readsUserInfo = provider.readsUserInfo
        rules.refusesBrowserSignIns = provider.refusesBrowserSignIns
        do throws(FetchFailure) {
            let grants = try ProviderGrants(
                rules, endpoints: provider.endpoints, readsDiscovery: provider.keys.readsDiscovery,
                allowingHTTP: provider.network.allowHTTP, slots: slots, calls: calls)
            return (grants, files)
        } catch {
            throw ConfigurationError(text: "provider \(provider.policy.id): endpoints: \(error.message)")
        }
    }

    private func newCalls(
        _ provider: ProviderSettings
    ) throws(ConfigurationError) -> (ProviderCalls, [ClientFiles.Entry]) {
        let id = provider.policy.id
        var credentials: [String: ClientCredential] = [:]
        var versions: [[SmallFile.Version?]] = []
        for client in provider.clients {
            // Before the files are read, so that a change meanwhile is noticed.
            versions.append(ClientFiles.versions(client))
            if let given = self.credentials[id]?[client.client.id] {
                credentials[client.client.id] = given
            } else {
                credentials[client.client.id] = try ClientFiles.credential(of: client, provider: id, clientKeys.keys)
            }
        }
        let made = ProviderCalls(
            rules: provider.network, proxy: proxy, credentials: credentials,
            quirks: provider.quirks, on: Self.callsLoop
        ) { [calls] report in calls.record(report, provider: id) }
        let files = zip(provider.clients, versions).map { client, versions in
            ClientFiles.Entry(provider: id, settings: client, versions: versions, calls: made, keys: clientKeys.keys)
        }
        return (made, files)
    }

    private func keyStore(
        _ provider: ProviderSettings, _ staleIfError: Interval, _ cacheDirectory: String?
    ) -> KeyStore {
        let id = provider.policy.id
        var rules = KeyRules()
        let fetcher: any KeyFetching
        var fallback: FileKeyFetcher?
        var archive: KeyArchive?
        var slots: FetchSlots?
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
            rules.findsKeysByID = location.findsKeysByID
            fetcher = spans.map { TracedKeyFetcher(provided, $0) } ?? provided
            fallback = fallbackFile.map(file)
            slots = fetchSlots
            archive = cacheDirectory.map {
                KeyArchive(
                    directory: $0, provider: id, issuer: provider.policy.issuer,
                    location: location.identity(under: provider.network), staleIfError: staleIfError)
            }
        }
        rules.staleIfError = staleIfError
        return KeyStore(
            rules: rules, fetcher: fetcher, fallback: fallback, archive: archive, threads: disk, slots: slots,
            on: keysLoop
        ) { [telemetry] in telemetry.record($0, provider: id) }
    }

    private func file(_ path: String) -> FileKeyFetcher {
        FileKeyFetcher(path: path, loop: keysLoop, unixSeconds: SystemClocks.unixSeconds)
    }
}

extension ProviderSettings {
    /// Whether calls under the other settings can continue under these: connections and credentials are the same.
    fileprivate func sharesCalls(with other: ProviderSettings) -> Bool {
        network == other.network && quirks == other.quirks
            && clients.map(\.client.id) == other.clients.map(\.client.id)
            && clients.map(\.authentication) == other.clients.map(\.authentication)
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
