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

/// Credentials in place of those in files that the settings name.
struct GivenCredentials: Sendable {
    /// By provider and client ID.
    var clients: [String: [String: ClientCredential]] = [:]
    /// Of clients that requests name, by provider.
    var assertionKeys: [String: ClientSigningKey] = [:]
    /// Assay's own.
    var ownKeys: ClientKeys?
}

/// Creates the service's providers from the settings.
struct ProviderFactory: Sendable {
    let proxy: ProxyEnvironment?
    let keys: KeyFactory
    let calls: CallTelemetry
    /// Used in place of the files that the settings name.
    let credentials: GivenCredentials
    /// Calls have their own loop, so that a slow handshake never delays a loop that serves requests. Created when the first provider has clients.
    private static let callsLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    /// Providers' answers about opaque tokens.
    private static let introspections = SharedIntrospectionMemory(
        entries: Settings().introspectionEntries, on: callsLoop)
    let clientFiles = ClientFiles()
    /// Assay's own keys.
    let clientKeys = ClientKeyFiles()
    private var ownKeys: ClientKeys { credentials.ownKeys ?? clientKeys.keys }

    /// The keys that `/v1/jwks` offers; `nil` if there are none.
    func publishedKeys(_ settings: Settings) -> ClientKeys? {
        settings.clientKeys.isEmpty && credentials.ownKeys == nil ? nil : ownKeys
    }

    /// A provider with its settings.
    struct ConfiguredProvider: Sendable {
        let provider: Provider
        fileprivate let settings: ProviderSettings
        /// The keys of signed introspection responses, which are fetched on demand; `nil` if its keys are always needed.
        fileprivate let responseKeys: ResponseKeys?
        /// The files of its clients.
        fileprivate let files: [ClientFiles.Entry]
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
        let prepared = try clientKeys.prepare(settings.clientKeys)
        Self.introspections.change(entries: settings.introspectionEntries)
        keys.change(maximumFetches: settings.keys.maximumFetches)
        let runningByID = Dictionary(
            running.map { ($0.settings.policy.id, $0) }, uniquingKeysWith: { first, _ in first })
        var configured: [ConfiguredProvider] = []
        for provider in settings.providers {
            let before = runningByID[provider.policy.id]
            let known = before.flatMap { $0.settings.sharesKeys(with: provider) ? $0 : nil }
            let demand = known == nil && provider.introspection != nil ? KeyDemand() : nil
            let keys = keys.keys(of: provider, known?.provider.keys, settings, fetchedOn: demand)
            var responseKeys = known?.responseKeys
            if let demand, let store = keys.store {
                responseKeys = ResponseKeys(store, demand, on: Self.callsLoop)
            }
            let (grants, introspector, files) = try callers(provider, responseKeys, after: before)
            configured.append(
                ConfiguredProvider(
                    provider: Provider(
                        policy: provider.policy, accessTokens: provider.accessTokens, introspector: introspector,
                        isOptional: provider.isOptional,
                        usesNoncesOnce: provider.usesNoncesOnce, notifications: provider.notifications,
                        encryption: provider.encryption.map { TokenEncryption($0, ownKeys) }, keys: keys,
                        issuers: provider.issuers, grants: grants),
                    settings: provider, responseKeys: responseKeys, files: files))
        }
        let callsInUse = Set(configured.compactMap { $0.provider.calls.map(ObjectIdentifier.init) })
        for calls in running.compactMap({ $0.provider.calls }) where !callsInUse.contains(ObjectIdentifier(calls)) {
            calls.stop()
        }
        clientFiles.watch(configured.flatMap(\.files))
        clientKeys.use(prepared)
        return configured
    }

    /// What calls a provider's endpoints: for its grants, or for its opaque tokens.
    ///
    /// - Parameters:
    ///   - responseKeys: those of its introspection responses; `nil` if its tokens are JWTs.
    ///   - running: the current provider with this ID; `nil` if there is none.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    private func callers(
        _ provider: ProviderSettings, _ responseKeys: ResponseKeys?, after running: ConfiguredProvider?
    ) throws(ConfigurationError) -> (ProviderGrants?, Introspector?, [ClientFiles.Entry]) {
        guard provider.hasClients else { return (nil, nil, []) }
        let calls: ProviderCalls
        let files: [ClientFiles.Entry]
        if let running, let known = running.provider.calls, provider.sharesCalls(with: running.settings) {
            (calls, files) = (known, running.files)
        } else {
            (calls, files) = try newCalls(provider)
        }
        let slots = running?.provider.callSlots ?? CallSlots(limit: provider.maximumCalls)
        slots.change(limit: provider.maximumCalls)
        if let rules = provider.introspection, let responseKeys, let client = provider.clients.first {
            // With the same settings, the answers that are known stay known.
            if let running, running.settings == provider, let known = running.provider.introspector {
                return (nil, known, files)
            }
            do throws(FetchFailure) {
                let introspector = try Introspector(
                    rules, by: client.client, of: provider.policy, allowingHTTP: provider.network.allowHTTP,
                    calls: calls, slots: slots, keys: responseKeys, Self.introspections)
                return (nil, introspector, files)
            } catch {
                throw ConfigurationError("provider \(provider.policy.id): introspection.endpoint: \(error.message)")
            }
        }
        var rules = GrantRules(clients: provider.clients.map(\.client), quirks: provider.quirks)
        rules.named = provider.namedClients?.rules
        rules.usesPKCE = provider.usesPKCE
        rules.allowsUnboundCodes = provider.allowsUnboundCodes
        rules.userInfo = provider.userInfo
        rules.refusesBrowserSignIns = provider.refusesBrowserSignIns
        do throws(FetchFailure) {
            let grants = try ProviderGrants(
                rules, endpoints: provider.endpoints, readsDiscovery: provider.keys.readsDiscovery,
                allowingHTTP: provider.network.allowHTTP, slots: slots, calls: calls)
            return (grants, nil, files)
        } catch {
            throw ConfigurationError("provider \(provider.policy.id): endpoints: \(error.message)")
        }
    }

    private func newCalls(
        _ provider: ProviderSettings
    ) throws(ConfigurationError) -> (ProviderCalls, [ClientFiles.Entry]) {
        let id = provider.policy.id
        var credentials: [String: ClientCredential] = [:]
        // The versions are those before the files are read, so that a change meanwhile is noticed.
        var files: [(settings: ClientFiles.Watched, versions: [SmallFile.Version?])] = []
        func watch(_ settings: ClientFiles.Watched) { files.append((settings, ClientFiles.versions(settings))) }
        for client in provider.clients {
            watch(.client(client))
            if let given = self.credentials.clients[id]?[client.client.id] {
                credentials[client.client.id] = given
            } else {
                credentials[client.client.id] = try ClientFiles.credential(of: client, provider: id, clientKeys.keys)
            }
        }
        // Requests will have secrets, even if no file has. The service warns at its start if this fails.
        if provider.namedClients != nil { _ = OpenSSL.disableCoreDumps() }
        var assertionKey = self.credentials.assertionKeys[id]
        if assertionKey == nil, let key = provider.namedClients?.key {
            watch(.key(key))
            assertionKey = try ClientFiles.assertionKey(key, provider: id)
        }
        let made = ProviderCalls(
            rules: provider.network, proxy: proxy, credentials: credentials, assertionKey: assertionKey,
            ownKeys: ownKeys, quirks: provider.quirks,
            keptConnections: provider.keptConnections, on: Self.callsLoop
        ) { [calls] report in calls.record(report, provider: id) }
        let entries = files.map { settings, versions in
            ClientFiles.Entry(
                provider: id, settings: settings, versions: versions, calls: made, keys: clientKeys.keys)
        }
        return (made, entries)
    }
}

extension ProviderSettings {
    /// Whether calls under the other settings can continue under these: connections and credentials are the same.
    fileprivate func sharesCalls(with other: ProviderSettings) -> Bool {
        network == other.network && quirks == other.quirks
            && clients.map(\.client.id) == other.clients.map(\.client.id)
            && clients.map(\.authentication) == other.clients.map(\.authentication)
            && clients.map(\.client.profile) == other.clients.map(\.client.profile)
            && namedClients?.key == other.namedClients?.key
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
            throw ConfigurationError(error.message)
        }
    }
}
