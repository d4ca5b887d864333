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
/// - They are fetched ahead of their end, so that a verification rarely waits.
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
        let fetcher = ProviderKeyFetcher(location, documents: documents, unixSeconds: SystemClocks.unixSeconds)
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
            self =
                switch state {
                case .ready: .ready
                case .stale: .stale
                case .unavailable: .unavailable
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
        "the provider's keys could not be fetched; try again in \(retryAfter.components.seconds) s"
    }
}
