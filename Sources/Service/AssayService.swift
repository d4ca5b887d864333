package import HTTP
package import IDToken
internal import Keys
package import NIOCore
package import NIOPosix
private import OAuth
package import SignIns
private import Synchronization
package import Verification

/// The service: two listeners on the same event loops, and the providers' keys.
package struct AssayService: Sendable {
    private let served: ServedProviders
    private let group: MultiThreadedEventLoopGroup
    private let loops: PerLoop<ServiceLoop>
    private let serviceListener: HTTPListener
    private let adminListener: HTTPListener
    /// The listeners' certificates, and the files of sign-ins and of clients.
    private let files: [FileWatch]
    private let log: Log
    private let sink: LogSink
    private let tracing: TraceExport?
    /// Logs the numbers of suppressed lines.
    private let repeats: RepeatedTask

    /// The service's listeners and what they need.
    package struct Configuration: Sendable {
        package var service: Listener
        package var admin: Listener
        package var settings: ServiceSettings
        /// The keys that encrypt sign-ins; `nil`: sign-ins are disabled.
        package var signInKeys: HandleKeys?
        package var store: StoreSetup
        /// The store of DPoP proofs, apart from that of sign-ins, so that API traffic never fills it.
        package var proofStore: StoreSetup
        package var proofNonces: ProofNonces
        /// Rereads the files of sign-ins; `nil`: there are none. Returns the new keys if they have changed. Throws if a
        /// file can't be used; the previous keys then stay in use. Blocks.
        package var readSignInFiles: (@Sendable () throws -> HandleKeys?)?
        /// Counts the calls to providers' endpoints; `nil`: they are not counted.
        package var calls: CallTelemetry?
        /// Rereads the files of clients, and applies what has changed. Returns whether anything has. Throws as
        /// ``readSignInFiles`` does. Blocks.
        package var readClientFiles: @Sendable () throws -> Bool = { false }
        package var version: String

        package init(
            service: Listener, admin: Listener, settings: ServiceSettings, signInKeys: HandleKeys?, store: StoreSetup,
            proofStore: StoreSetup, proofNonces: ProofNonces, version: String
        ) {
            self.service = service
            self.admin = admin
            self.settings = settings
            self.signInKeys = signInKeys
            self.store = store
            self.proofStore = proofStore
            self.proofNonces = proofNonces
            self.version = version
        }
    }

    package struct Listener: Sendable {
        package var address: ListenAddress
        /// The certificate and key for TLS; `nil`: plain HTTP.
        package var tls: TLSFiles?
        package var limits: ListenerLimits

        package init(_ address: ListenAddress, tls: TLSFiles? = nil, limits: ListenerLimits = ListenerLimits()) {
            self.address = address
            self.tls = tls
            self.limits = limits
        }
    }

    /// The service listener's responder on one event loop, without the listener.
    ///
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    package static func responder(
        on loop: any EventLoop, _ settings: ServiceSettings, _ registry: ProviderRegistry, _ sink: LogSink,
        store: StoreSetup, proofStore: StoreSetup?, signInKeys: HandleKeys?
    ) throws -> any HTTPResponder {
        ServiceResponder(
            try ServiceLoop(
                on: loop, settings, registry, sink, store: store, proofStore: proofStore, signInKeys: signInKeys))
    }

    /// Loads the keys that an earlier process archived, starts to fetch, and binds both listeners. Does not fail if a
    /// provider is down.
    ///
    /// - Throws: an I/O error if an address can't be bound, `TLSFileError` if the TLS files can't be used.
    package static func start(
        _ configuration: Configuration, providers: [Provider], telemetry: KeyTelemetry,
        configurations: ConfigurationTelemetry, tracing: TraceExport? = nil,
        on group: MultiThreadedEventLoopGroup,
        log: Log, sink: LogSink
    ) async throws -> AssayService {
        let serviceTLS = try configuration.service.tls.map { try CertificateWatch(.service, $0, log: log) }
        let adminTLS = try configuration.admin.tls.map { try CertificateWatch(.admin, $0, log: log) }
        let certificates = [serviceTLS, adminTLS].compactMap(\.self)
        let registry = try await ProviderRegistry().changed(to: providers, on: group)
        try await registry.startKeys(on: group.next())
        let firstRefusals = FirstRefusalLog(log)
        let loops = try await PerLoop(on: group) { loop in
            try ServiceLoop(
                on: loop, configuration.settings, registry, sink, tracer: tracing?.tracer, firstRefusals: firstRefusals,
                store: configuration.store, proofStore: configuration.proofStore, signInKeys: configuration.signInKeys,
                proofNonces: configuration.proofNonces)
        }
        let served = ServedProviders(registry)
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

        @Sendable func bind(
            _ name: ListenerName, _ listener: Listener, _ watch: CertificateWatch?,
            _ makeResponder: @escaping @Sendable (any EventLoop) -> any HTTPResponder
        ) async throws -> HTTPListener {
            do {
                return try await HTTPListener.bind(
                    listener.address, tls: watch?.tls, on: group, acceptor: acceptor, limits: listener.limits,
                    unixSeconds: SystemClocks.unixSeconds, makeResponder: makeResponder)
            } catch let error as ListenError {
                throw UnboundListener(name: name, reason: error.description)
            }
        }
        let serviceListener = try await bind(.service, configuration.service, serviceTLS) { loop in
            let responder = ServiceResponder(loops[loop])
            return configuration.settings.refusesPublicHosts ? LocalHostsResponder(responder) : responder
        }
        let scrape = Scrape(
            served: served, loops: loops, telemetry: telemetry, calls: configuration.calls,
            configurations: configurations,
            listener: serviceListener, certificates: certificates, sink: sink, spans: tracing?.exporter,
            version: configuration.version)
        let adminListener = try await bind(.admin, configuration.admin, adminTLS) { loop in
            AdminResponder(
                loops[loop],
                ProcessReport(
                    version: scrape.version, startedAtUnixSeconds: scrape.startedAtUnixSeconds,
                    metrics: { scrape.page(on: loop) }, verdicts: { scrape.verdicts(on: loop) },
                    history: telemetry.history))
        }
        var files = certificates.map(\.files)
        if let read = configuration.readSignInFiles {
            files.append(
                FileWatch {
                    guard let keys = try read() else { return false }
                    // If memory runs out, a loop keeps its current keys.
                    _ = loops.onEach { try $0.change(to: keys) }
                    return true
                } onChange: {
                    log.write(.info, "sign-in keys changed")
                } onFailure: { reason in
                    log.write(
                        .warning, "sign-in files invalid, still using the previous ones", [("reason", .text(reason))])
                })
        }
        files.append(
            FileWatch(configuration.readClientFiles) {
                log.write(.info, "client credentials changed")
            } onFailure: { reason in
                log.write(
                    .warning, "client credential files invalid, still using the previous ones",
                    [("reason", .text(reason))])
            })
        for watch in files { watch.start(on: group.next()) }

        for (name, listener) in [(ListenerName.service, serviceListener), (.admin, adminListener)] {
            log.write(.info, "listening", [("listener", .text(name.rawValue)), ("address", .text(listener.address))])
        }
        return AssayService(
            served: served, group: group, loops: loops, serviceListener: serviceListener, adminListener: adminListener,
            files: files, log: log, sink: sink, tracing: tracing,
            repeats: group.next().scheduleRepeatedTask(initialDelay: repeatsPeriod, delay: repeatsPeriod) { _ in
                log.reportHeldBack()
            })
    }

    private static let repeatsPeriod = TimeAmount.seconds(5)

    package var serviceAddress: String { serviceListener.address }
    package var adminAddress: String { adminListener.address }

    /// Checks the listeners' certificates and the files of sign-ins now instead of at the next poll.
    package func reloadFiles() async {
        for watch in files { await watch.poll() }
    }

    /// How long a change of settings waits for the keys of new providers, so that fewer requests find no keys.
    private static let firstKeysTimeout = Interval.seconds(5)

    /// Switches to new settings and providers. Each event loop switches between two requests. Calls must not overlap.
    ///
    /// - Parameter providers: a provider whose keys have the same source as before keeps its key store.
    /// - Throws: an event loop error.
    package func change(to settings: ServiceSettings, providers: [Provider]) async throws {
        // Callers whose access was revoked are rejected at once, before any keys are awaited.
        try await EventLoopFuture.andAllSucceed(loops.onEach { $0.admit(by: settings) }, on: group.next()).get()
        let before = served.registry
        let after = try await before.changed(to: providers, on: group)
        let added = after.keyStores(notIn: before)
        let loop = group.next()
        try await after.startKeys(notIn: before, on: loop)
        let deadline = SystemClocks.monotonic() + Self.firstKeysTimeout
        let firstKeys = added.map { $0.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: deadline) }
        // Failures are ignored: an unreachable provider must not hold up the others.
        try await EventLoopFuture.andAllComplete(firstKeys, on: loop).get()
        // Register the new providers before any loop counts their requests: a scrape looks up their IDs here.
        served.registry = after
        try await EventLoopFuture.andAllSucceed(loops.onEach { $0.change(to: settings, after) }, on: loop).get()
        // Every loop has switched, so only requests that started before still wait for these stores.
        for keys in before.keys(notIn: after) { keys.retire() }
    }

    /// How long to wait for the last spans to be exported.
    private static let lastExport = Interval.seconds(2)

    /// Stops gracefully: readiness ends at once, new requests are served until the delay is over, requests in flight are
    /// finished within the grace period, and then everything is closed.
    ///
    /// - Parameter isHurried: returns when the rest of the delay should be skipped, or when its task is cancelled.
    package func stop(
        after delay: Interval, orWhen isHurried: @escaping @Sendable () async -> Void, grace: Interval
    ) async {
        log.write(.info, "stopping")
        if delay > .seconds(0) {
            for told in loops.onEach({ $0.stage = .leaving }) { try? await told.get() }
            await withTaskGroup { group in
                group.addTask { try? await Task.sleep(for: .milliseconds(delay.milliseconds)) }
                group.addTask {
                    await isHurried()
                    if !Task.isCancelled { self.log.write(.info, "shutdown_delay cut short by a second signal") }
                }
                await group.next()
                group.cancelAll()
            }
        }
        for told in loops.onEach({ $0.stage = .stopping }) { try? await told.get() }
        await serviceListener.drain(atMost: grace)
        await serviceListener.close()
        await adminListener.close()
        for provider in served.registry.providers { provider.keys.stop() }
        for provider in served.registry.providers { provider.calls?.stop() }
        for flushed in loops.onEach({ $0.end() }) { try? await flushed.get() }
        await tracing?.exporter.stop(atMost: Self.lastExport)
        repeats.cancel()
        log.reportAllHeldBack()
        log.write(.info, "stopped")
        await sink.close()
    }
}

/// The current providers, for code that runs outside the event loops.
final class ServedProviders: Sendable {
    private let current: Mutex<ProviderRegistry>

    init(_ registry: ProviderRegistry) { current = Mutex(registry) }

    var registry: ProviderRegistry {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
