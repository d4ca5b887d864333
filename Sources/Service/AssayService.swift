internal import EventLoops
package import Verification
package import Host
package import HTTPServer
private import IDToken
internal import KeySource
internal import NIOCore
package import NIOPosix
private import Synchronization
package import Telemetry

/// The service: two listeners over the same event loops, and the providers' keys behind them.
package final class AssayService: Sendable {
    private let served: ServedProviders
    private let group: MultiThreadedEventLoopGroup
    private let loops: PerLoop<ServiceLoop>
    private let serviceListener: HTTPListener
    private let adminListener: HTTPListener
    /// Of the listeners that speak TLS.
    private let certificates: [CertificateWatch]
    private let log: Log
    private let sink: LogSink
    private let tracing: TraceExport?
    /// Has the log say what it has held back.
    private let repeats: RepeatedTask

    /// Where the service listens, and how.
    package struct Configuration: Sendable {
        package var service: ListenAddress
        package var admin: ListenAddress
        /// What the listeners speak TLS with; `nil`: plain HTTP.
        package var serviceTLS: TLSFiles?
        package var adminTLS: TLSFiles?
        package var limits = ListenerLimits()
        package var adminLimits = ListenerLimits()
        package var settings: ServiceSettings
        package var version: String

        package init(service: ListenAddress, admin: ListenAddress, settings: ServiceSettings, version: String) {
            self.service = service
            self.admin = admin
            self.settings = settings
            self.version = version
        }
    }

    /// Takes over the keys that an earlier process kept, begins to fetch, and binds both listeners. Never fails because a
    /// provider is down.
    ///
    /// - Throws: an I/O error where an address can't be bound, `TLSFileError` where TLS can't be spoken.
    package static func start(
        _ configuration: Configuration, providers: [Provider], telemetry: KeyTelemetry,
        configurations: ConfigurationTelemetry, tracing: TraceExport? = nil,
        on group: MultiThreadedEventLoopGroup,
        log: Log, sink: LogSink
    ) async throws -> AssayService {
        let serviceTLS = try configuration.serviceTLS.map {
            try CertificateWatch("service", $0, log: log)
        }
        let adminTLS = try configuration.adminTLS.map {
            try CertificateWatch("admin", $0, log: log)
        }
        let certificates = [serviceTLS, adminTLS].compactMap(\.self)
        let registry = try await ProviderRegistry().changed(to: providers, on: group)
        try await registry.startKeys(on: group.next())
        let loops = try await PerLoop(on: group) { loop in
            try ServiceLoop(on: loop, configuration.settings, registry, sink, tracer: tracing?.tracer)
        }
        let served = ServedProviders(registry)
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

        let serviceListener = try await HTTPListener.bind(
            configuration.service, tls: serviceTLS?.tls, on: group, acceptor: acceptor,
            limits: configuration.limits, unixSeconds: SystemClocks.unixSeconds
        ) { ServiceResponder(loops[$0]) }
        let scrape = Scrape(
            served: served, loops: loops, telemetry: telemetry, configurations: configurations,
            listener: serviceListener, certificates: certificates, sink: sink, spans: tracing?.exporter,
            version: configuration.version)
        let process = ServiceProcess(
            version: configuration.version, startedAtUnixSeconds: scrape.startedAtUnixSeconds)
        let adminListener = try await HTTPListener.bind(
            configuration.admin, tls: adminTLS?.tls, on: group, acceptor: acceptor,
            limits: configuration.adminLimits, unixSeconds: SystemClocks.unixSeconds
        ) { loop in
            AdminResponder(
                loops[loop], process: process, scrape: { scrape.page(on: loop) },
                verdicts: { scrape.verdicts(on: loop) },
                history: telemetry.history)
        }
        for watch in certificates { watch.start(on: group.next()) }

        log.write(.info, "listening", [("listener", .text("service")), ("address", .text(serviceListener.address))])
        log.write(.info, "listening", [("listener", .text("admin")), ("address", .text(adminListener.address))])
        return AssayService(
            served: served, group: group, loops: loops, serviceListener: serviceListener, adminListener: adminListener,
            certificates: certificates, log: log, sink: sink, tracing: tracing)
    }

    private init(
        served: ServedProviders, group: MultiThreadedEventLoopGroup, loops: PerLoop<ServiceLoop>,
        serviceListener: HTTPListener, adminListener: HTTPListener, certificates: [CertificateWatch], log: Log,
        sink: LogSink, tracing: TraceExport?
    ) {
        self.served = served
        self.group = group
        self.loops = loops
        self.serviceListener = serviceListener
        self.adminListener = adminListener
        self.certificates = certificates
        self.log = log
        self.sink = sink
        self.tracing = tracing
        repeats = group.next().scheduleRepeatedTask(initialDelay: Self.repeatsPeriod, delay: Self.repeatsPeriod) { _ in
            log.reportHeldBack()
        }
    }

    private static let repeatsPeriod = TimeAmount.seconds(5)

    package var serviceAddress: String { serviceListener.address }
    package var adminAddress: String { adminListener.address }

    /// Has the files of the listeners' certificates looked at now, and not at the next turn.
    package func reloadCertificates() async {
        for watch in certificates { await watch.poll() }
    }

    /// For how long other settings are put off for the keys of the providers that they bring: so that no more requests than
    /// need be find themselves without.
    private static let firstKeysTimeout = Interval.seconds(5)

    /// Serves with other settings and providers from now on, every event loop between two of its requests. Not to be called
    /// again before it has returned.
    ///
    /// - Parameter providers: those whose keys come from where they came from have the key store that they had.
    /// - Throws: an error of the event loops'.
    package func change(to settings: ServiceSettings, providers: [Provider]) async throws {
        // Whoever may not call any more waits for no provider's keys.
        try await EventLoopFuture.andAllSucceed(loops.onEach { $0.admit(by: settings) }, on: group.next()).get()
        let before = served.registry
        let after = try await before.changed(to: providers, on: group)
        let added = after.keyStores(notIn: before)
        let loop = group.next()
        try await after.startKeys(notIn: before, on: loop)
        let deadline = SystemClocks.monotonic() + Self.firstKeysTimeout
        let firstKeys = added.map { $0.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: deadline) }
        // Whatever became of them: a provider that can't be reached is no reason to go on without the others.
        try await EventLoopFuture.andAllComplete(firstKeys, on: loop).get()
        // Before any loop counts for its new providers.
        served.registry = after
        try await EventLoopFuture.andAllSucceed(loops.onEach { $0.change(to: settings, after) }, on: loop).get()
        // Every loop has changed over: who still waits for these has begun to before.
        for store in before.keyStores(notIn: after) { store.retire() }
    }

    /// For how long the last spans are waited for.
    private static let lastExport = Interval.seconds(2)

    /// Stops: unready at once, new requests answered until the delay is over, those under way then finished within the
    /// grace, and everything closed.
    ///
    /// - Parameter isHurried: returns when the rest of the delay is no longer wanted, or when its task is cancelled.
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
                    if !Task.isCancelled { self.log.write(.info, "stopping without the rest of shutdown_delay") }
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
        for flushed in loops.onEach({ $0.end() }) { try? await flushed.get() }
        await tracing?.exporter.stop(atMost: Self.lastExport)
        repeats.cancel()
        log.reportAllHeldBack()
        log.write(.info, "stopped")
        await sink.close()
    }
}

/// The providers that are served now, for whoever is on no event loop of theirs.
private final class ServedProviders: Sendable {
    private let current: Mutex<ProviderRegistry>

    init(_ registry: ProviderRegistry) { current = Mutex(registry) }

    var registry: ProviderRegistry {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// Gathers what all loops have counted.
private struct Scrape: Sendable {
    let served: ServedProviders
    let loops: PerLoop<ServiceLoop>
    let telemetry: KeyTelemetry
    let configurations: ConfigurationTelemetry
    let listener: HTTPListener
    let certificates: [CertificateWatch]
    let sink: LogSink
    /// `nil`: there are none.
    let spans: SpanExporter?
    let version: String
    let startedAtUnixSeconds = SystemClocks.unixSeconds()

    /// The metrics page, made on one of the loops.
    func page(on loop: any EventLoop) -> EventLoopFuture<[UInt8]> {
        let counted = EventLoopFuture.whenAllSucceed(loops.onEach { $0.metrics }, on: loop)
        return counted.flatMap { parts in
            // Only now: a provider is in the registry before any loop counts for it.
            let registry = served.registry
            let statuses = EventLoopFuture.whenAllSucceed(registry.providers.map { $0.keys.status() }, on: loop)
            return statuses.map { page(parts, registry, $0) }
        }
    }

    /// How many tokens got which verdict, added up on one of the loops.
    func verdicts(on loop: any EventLoop) -> EventLoopFuture<Verdicts> {
        let counted = EventLoopFuture.whenAllSucceed(loops.onEach { $0.metrics }, on: loop)
        return counted.map { Verdicts(LoopMetrics(sumOf: $0), served.registry.ids) }
    }

    private func page(_ parts: [LoopMetrics], _ registry: ProviderRegistry, _ statuses: [KeyStatus]) -> [UInt8] {
        MetricsPage(
            providers: registry.providers, providerIDs: registry.ids, loops: LoopMetrics(sumOf: parts),
            statuses: statuses,
            keyCounts: telemetry.current, configurations: configurations.current,
            service: listener.usage, process: .now(), startedAtUnixSeconds: startedAtUnixSeconds,
            certificates: certificates, droppedLogBytes: sink.droppedBytes,
            spans: spans?.counts ?? SpanQueue.Counts(), version: version, now: SystemClocks.monotonic(),
            unixMilliseconds: SystemClocks.unixMilliseconds()
        ).text()
    }
}
