private import HTTP
public import IDToken
public import JOSE
internal import Keys
internal import NIOCore
private import NIOPosix
public import ServiceLifecycle
private import Synchronization

/// The keys that a provider publishes on the network, kept fresh.
///
/// - They are fetched ahead of their end, so that a verification rarely waits: only for a fetch that could change its
///   result. A token that can be refused without keys is refused at once, and causes no fetch.
/// - A token with an unknown `kid`, or with a signature that its key did not make, causes a fetch, within a budget: forged
///   tokens can't flood the provider.
/// - While the provider can't be reached, expired keys stay in use for ``Options/staleFor``.
/// - With ``Options/cacheDirectory``, a restart during an outage can still verify.
/// - Connections are made to public addresses only, except for those in ``Options/allowedAddresses``.
///
/// It is a `Service`: run it in a `ServiceGroup`. A verification before that, or without it, reads the keys from disk, or else
/// fetches them.
///
/// ```swift
/// let keys = try RemoteKeySet(of: .apple)
/// let verifier = try ProviderVerifier(policy)
/// let verified = try await verifier.verify(token, with: keys)
/// ```
public final class RemoteKeySet: Service {
    let store: KeyStore
    private let latest = Mutex<KeySnapshot?>(nil)
    /// Completes when the keys on disk have been read; `nil` before anybody needed them.
    private let restoring = Mutex<EventLoopFuture<Void>?>(nil)

    /// Fetches, and the decoding of keys, have a thread of their own: they must not delay the event loops of a server.
    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    /// For calls that block on a disk.
    private static let disk: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        return threads
    }()
    private static let slots = FetchSlots(limit: 8, on: loop)

    /// Keys of a provider with a preset.
    ///
    /// - Parameters:
    ///   - preset: of the provider.
    ///   - arguments: values for the preset's parameters.
    ///   - issuer: if given, replaces the preset's issuer.
    ///   - options: how to fetch and keep the keys.
    ///   - onEvent: called with what happens to the keys, for logs and metrics. It must not block.
    /// - Throws: ``RemoteKeySetError``.
    public convenience init(
        of preset: ProviderPreset, arguments: PresetArguments = PresetArguments(), issuer: String? = nil,
        options: Options = Options(), onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(RemoteKeySetError) {
        let missing = preset.parameters.first { !$0.isOptional && arguments[$0.name] == nil }
        // A preset's issuer can be such a parameter.
        if let missing, missing.name != "issuer" || issuer == nil {
            throw RemoteKeySetError("the preset \(preset.name) needs \(missing.name): \(missing.meaning)")
        }
        let facts = preset.facts(arguments)
        try self.init(
            facts.keys, issuer: issuer ?? facts.policy.issuer, readsAlgorithms: facts.policy.algorithms == nil,
            options: options, onEvent: onEvent)
    }

    /// - Parameters:
    ///   - keys: where the provider publishes them.
    ///   - issuer: the provider's issuer. Its discovery document, if there is one, must name it.
    ///   - options: how to fetch and keep the keys.
    ///   - onEvent: called with what happens to the keys, for logs and metrics. It must not block.
    /// - Throws: ``RemoteKeySetError``.
    public convenience init(
        _ keys: PublishedKeys = .discovery(), issuer: String, options: Options = Options(),
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(RemoteKeySetError) {
        try self.init(keys, issuer: issuer, readsAlgorithms: true, options: options, onEvent: onEvent)
    }

    /// - Parameter readsAlgorithms: whether the discovery document decides which algorithms are allowed.
    private init(
        _ keys: PublishedKeys, issuer: String, readsAlgorithms: Bool, options: Options,
        onEvent: @escaping @Sendable (Event) -> Void
    ) throws(RemoteKeySetError) {
        let rules = try options.networkRules()
        let location = try KeyLocation.Network(
            keys, issuer: issuer, readsAlgorithms: readsAlgorithms, under: rules)
        let documents = DocumentFetcher(
            rules: rules, proxy: try options.proxy(), loop: Self.loop, unixSeconds: SystemClocks.unixSeconds)
        let staleIfError = Interval(options.staleFor)
        var keyRules = KeyRules()
        keyRules.findsKeysByID = location.findsKeysByID
        keyRules.staleIfError = staleIfError
        let archive = options.cacheDirectory.map {
            KeyArchive(
                directory: $0, provider: options.cacheName(of: issuer), issuer: issuer,
                location: location.identity(under: rules), staleIfError: staleIfError)
        }
        let fetcher = ProviderKeyFetcher(location, documents: documents)
        store = KeyStore(
            rules: keyRules, fetcher: fetcher, archive: archive, threads: Self.disk, slots: Self.slots, on: Self.loop
        ) { event in if let event = Event(event) { onEvent(event) } }
        // Weak, because the store's timers keep the store.
        _ = store.subscribe { [weak self] snapshot in
            self?.latest.withLock { $0 = snapshot }
            return Self.loop.makeSucceededVoidFuture()
        }
    }

    deinit { store.stop() }

    /// Restores keys from disk, fetches, and keeps the keys fresh until a graceful shutdown or a cancellation.
    public func run() async throws {
        try await restored().map { self.store.startNow() }.get()
        try? await gracefulShutdown()
        store.stop()
    }

    /// The keys in use; `nil` if there are none, or if they are too old. To verify, pass the `RemoteKeySet` itself to a
    /// `ProviderVerifier`, which also finds keys that are not there yet.
    public var current: JWKSet? {
        let now = SystemClocks.monotonic()
        return snapshot.flatMap { $0.isUsable(at: now) ? $0.keys : nil }
    }

    /// Whether there are keys to verify with, for a readiness probe.
    public var state: State { State(KeyState(snapshot, at: SystemClocks.monotonic())) }

    /// Reads the keys on disk, once.
    ///
    /// - Returns: completes on the store's loop, when there is a snapshot of them if they can be used.
    func restored() -> EventLoopFuture<Void> {
        restoring.withLock { restoring in
            let future = restoring ?? store.loadArchive()
            restoring = future
            return future
        }
    }

    /// The latest keys, whatever their age.
    var snapshot: KeySnapshot? { latest.withLock { $0 } }

    /// Whether the keys can be used.
    public enum State: Sendable, Equatable {
        case ready
        /// The keys have expired, and are used because the provider can't be reached.
        case stale
        /// There are no keys, or they are too old.
        case unavailable

        init(_ state: KeyState) {
            switch state {
            case .ready: self = .ready
            case .stale: self = .stale
            case .unavailable: self = .unavailable
            }
        }
    }
}

/// A parameter of a ``RemoteKeySet`` is wrong.
public struct RemoteKeySetError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Names the error without the value, because an address may contain a password.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A token could not be verified, because the keys that it needs could not be fetched. It may be valid.
public struct KeysUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
    /// The time after which trying again may help.
    public let retryAfter: Duration

    public var description: String {
        // Rounded up: 0 would say that there is nothing to wait for.
        let (seconds, rest) = retryAfter.components
        return
            "the provider's keys could not be fetched; onEvent tells why. Try again in \(seconds + (rest > 0 ? 1 : 0)) s"
    }
}

extension RemoteKeySet {
    /// A change of the keys, or an attempt to fetch them. A new version may add cases.
    public enum Event: Sendable, Equatable, CustomStringConvertible {
        case fetched
        /// - Parameters:
        ///   - reason: what failed, in words, without anything secret.
        ///   - isFirst: whether the fetch before succeeded.
        case fetchFailed(reason: String, isFirst: Bool)
        /// A fetch succeeded after failures.
        case recovered
        /// Other keys are in use.
        case keysChanged(keyIDs: [String])
        /// The keys became ready, stale or unavailable.
        case stateChanged(State)
        /// A token's unknown or doubtful key caused no fetch, because such tokens have caused too many.
        case fetchForTokenRefused
        /// The keys in the cache directory are not used, or could not be written.
        case cacheFailed(reason: String)

        public var description: String {
            switch self {
            case .fetched: "keys fetched"
            case .fetchFailed(let reason, _): "fetch of keys failed: \(reason)"
            case .recovered: "keys can be fetched again"
            case .keysChanged(let keyIDs): "keys in use: \(keyIDs.joined(separator: ", "))"
            case .stateChanged(let state): "keys are \(state)"
            case .fetchForTokenRefused: "too many tokens need unknown keys; no fetch"
            case .cacheFailed(let reason): "keys on disk: \(reason)"
            }
        }

        /// `nil` for an event that says nothing more.
        init?(_ event: KeyEvent) {
            switch event {
            case .fetched: self = .fetched
            case .fetchFailed(let failure, let isFirst): self = .fetchFailed(reason: failure.message, isFirst: isFirst)
            case .recovered: self = .recovered
            case .keysChanged(let keyIDs): self = .keysChanged(keyIDs: keyIDs)
            case .stateChanged(let state): self = .stateChanged(State(state))
            case .tokenFetchRefused: self = .fetchForTokenRefused
            case .archiveRefused(let reason): self = .cacheFailed(reason: reason)
            case .archiveFailed: self = .cacheFailed(reason: "they could not be written")
            case .tokenFetchBegan, .fallbackFailed: return nil
            }
        }
    }
}

extension RemoteKeySet {
    /// How keys are fetched and kept.
    public struct Options: Sendable, Equatable {
        /// How long keys are used after their lifetime while the provider can't be reached.
        public var staleFor = Duration.seconds(24 * 3600)
        /// An existing directory that nobody else can write to, in which the last good keys are kept across restarts;
        /// `nil` for none. Key sets of different issuers may share it.
        public var cacheDirectory: String?
        /// A PEM file with CA certificates to trust in addition to the system's.
        public var caFile: String?
        /// Addresses outside the public Internet to which connections may be made, such as `10.0.0.0/8`.
        public var allowedAddresses: [String] = []
        /// Whether `http` is allowed, for tests.
        public var allowsHTTP = false
        /// Whether keys of `assay dev` are accepted, for tests. Everywhere else, they are skipped.
        public var acceptsDevelopmentKeys = false
        /// The variables among which `HTTPS_PROXY` and `NO_PROXY` are read, usually those of the process; empty: no
        /// proxy is used.
        public var environment: [String: String] = [:]

        public init() {}
    }
}

extension RemoteKeySet.Options {
    fileprivate func networkRules() throws(RemoteKeySetError) -> NetworkRules {
        var rules = NetworkRules()
        rules.allowHTTP = allowsHTTP
        rules.acceptsDevelopmentKeys = acceptsDevelopmentKeys
        rules.caFile = caFile
        for text in allowedAddresses {
            guard let block = AddressBlock(text) else {
                throw RemoteKeySetError(
                    "allowedAddresses has an entry that is not an address or a block like 10.0.0.0/8")
            }
            rules.allowedAddresses.append(block)
        }
        return rules
    }

    func proxy() throws(RemoteKeySetError) -> ProxyEnvironment? {
        do throws(FetchFailure) {
            return try ProxyEnvironment(environment)
        } catch {
            throw RemoteKeySetError(error.message)
        }
    }

    /// The name of the file for an issuer. The file itself says which issuer it belongs to.
    fileprivate func cacheName(of issuer: String) -> String {
        String(
            issuer.lazy.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") || $0 == "/" }
                .map { $0 == "/" ? "_" : $0 }.suffix(128))
    }
}

extension KeyLocation.Network {
    /// - Throws: ``RemoteKeySetError`` if nothing can be fetched from there.
    init(
        _ keys: PublishedKeys, issuer: String, readsAlgorithms: Bool, under rules: NetworkRules
    ) throws(RemoteKeySetError) {
        switch keys {
        case .discovery(let url, let documentIssuer):
            let issuer = documentIssuer ?? issuer
            guard url != nil || IssuerTemplate(issuer) == nil else {
                throw RemoteKeySetError("the issuer is a template; give the URL of the discovery document")
            }
            self = .discovery(
                address: url ?? ProviderMetadata.address(forIssuer: issuer), issuer: issuer,
                readsAlgorithms: readsAlgorithms)
        case .jwkSet(let url): self = .jwkSet(address: url)
        case .certificates(let url): self = .certificates(address: url)
        case .publicKeys(let url?): self = .publicKeys(address: url)
        case .publicKeys(nil): throw RemoteKeySetError("the address of the provider's public keys is not known")
        }
        guard rules.allowHTTP || !address.hasPrefix("http://") else {
            throw RemoteKeySetError("the address of the keys has http; use https, or set allowsHTTP for tests")
        }
        do throws(FetchFailure) {
            _ = try rules.url(address)
        } catch {
            throw RemoteKeySetError("the address of the keys can't be used: \(error.message)")
        }
    }

    /// Of the first document, with a `kid` in place of its placeholder.
    private var address: String {
        switch self {
        case .discovery(let address, _, _, _), .jwkSet(let address), .certificates(let address): address
        case .publicKeys(let template): template.replacing(Self.keyIDPlaceholder, with: "kid")
        }
    }
}

extension Interval {
    init(_ duration: Duration) {
        // Far below the values at which arithmetic would overflow.
        let (seconds, attoseconds) = min(max(duration, .zero), .milliseconds(1 << 50)).components
        self.init(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
