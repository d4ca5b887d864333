internal import EventLoops
package import Verification
package import Host
package import HTTPServer
private import IDToken
internal import KeySource
internal import NIOCore
package import NIOPosix
package import SignIns
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
    /// `nil`: sign-ins are off, or have no files.
    private let signInFiles: SignInFileWatch?
    private let log: Log
    private let sink: LogSink
    private let tracing: TraceExport?
    /// Has the log say what it has held back.
    private let repeats: RepeatedTask

    /// Where the service listens, and how.
    package struct Configuration: Sendable {
        package var service: Listener
        package var admin: Listener
        package var settings: ServiceSettings
        /// The keys that seal sign-ins; `nil`: these are off.
        package var signInKeys: HandleKeys?
        package var store: StoreSetup
        /// Reads the files of sign-ins again; `nil`: there are none. Returns other keys if there are some. Throws why a file can't
        /// be used, and then what was read before counts. Blocks.
        package var readSignInFiles: (@Sendable () throws -> HandleKeys?)?
        package var version: String

        package init(
            service: Listener, admin: Listener, settings: ServiceSettings, signInKeys: HandleKeys?, store: StoreSetup,
            version: String
        ) {
            self.service = service
            self.admin = admin
            self.settings = settings
            self.signInKeys = signInKeys
            self.store = store
            self.version = version
        }
    }

    package struct Listener: Sendable {
        package var address: ListenAddress
        /// What it speaks TLS with; `nil`: plain HTTP.
        package var tls: TLSFiles?
        package var limits: ListenerLimits

        package init(_ address: ListenAddress, tls: TLSFiles? = nil, limits: ListenerLimits = ListenerLimits()) {
            self.address = address
            self.tls = tls
            self.limits = limits
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
        let serviceTLS = try configuration.service.tls.map { try CertificateWatch(.service, $0, log: log) }
        let adminTLS = try configuration.admin.tls.map { try CertificateWatch(.admin, $0, log: log) }
        let certificates = [serviceTLS, adminTLS].compactMap(\.self)
        let registry = try await ProviderRegistry().changed(to: providers, on: group)
        try await registry.startKeys(on: group.next())
        let loops = try await PerLoop(on: group) { loop in
            try ServiceLoop(
                on: loop, configuration.settings, registry, sink, tracer: tracing?.tracer,
                store: configuration.store, signInKeys: configuration.signInKeys)
        }
        let served = ServedProviders(registry)
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

        @Sendable func bind(
            _ listener: Listener, _ watch: CertificateWatch?,
            _ makeResponder: @escaping @Sendable (any EventLoop) -> any HTTPResponder
        ) async throws -> HTTPListener {
            try await HTTPListener.bind(
                listener.address, tls: watch?.tls, on: group, acceptor: acceptor, limits: listener.limits,
                unixSeconds: SystemClocks.unixSeconds, makeResponder: makeResponder)
        }
        let serviceListener = try await bind(configuration.service, serviceTLS) { ServiceResponder(loops[$0]) }
        let scrape = Scrape(
            served: served, loops: loops, telemetry: telemetry, configurations: configurations,
            listener: serviceListener, certificates: certificates, sink: sink, spans: tracing?.exporter,
            version: configuration.version)
        let process = ServiceProcess(
            version: configuration.version, startedAtUnixSeconds: scrape.startedAtUnixSeconds)
        let adminListener = try await bind(configuration.admin, adminTLS) { loop in
            AdminResponder(
                loops[loop], process: process, scrape: { scrape.page(on: loop) },
                verdicts: { scrape.verdicts(on: loop) },
                history: telemetry.history)
        }
        for watch in certificates { watch.start(on: group.next()) }
        let signInFiles = configuration.readSignInFiles.map { read in
            SignInFileWatch(read, log: log) { keys in
                // Out of memory, a loop goes on with the keys it has.
                _ = loops.onEach { try $0.signIns?.change(to: keys) }
            }
        }
        signInFiles?.start(on: group.next())

        for (name, listener) in [(ListenerName.service, serviceListener), (.admin, adminListener)] {
            log.write(.info, "listening", [("listener", .text(name.rawValue)), ("address", .text(listener.address))])
        }
        return AssayService(
            served: served, group: group, loops: loops, serviceListener: serviceListener, adminListener: adminListener,
            certificates: certificates, signInFiles: signInFiles, log: log, sink: sink, tracing: tracing)
    }

    private init(
        served: ServedProviders, group: MultiThreadedEventLoopGroup, loops: PerLoop<ServiceLoop>,
        serviceListener: HTTPListener, adminListener: HTTPListener, certificates: [CertificateWatch],
        signInFiles: SignInFileWatch?, log: Log,
        sink: LogSink, tracing: TraceExport?
    ) {
        self.served = served
        self.group = group
        self.loops = loops
        self.serviceListener = serviceListener
        self.adminListener = adminListener
        self.certificates = certificates
        self.signInFiles = signInFiles
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

    /// Has the files of the listeners' certificates and of sign-ins looked at now, and not at the next turn.
    package func reloadFiles() async {
        for watch in certificates { await watch.poll() }
        await signInFiles?.poll()
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
