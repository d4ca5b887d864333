package import Clocks
package import HTTPListener
private import IDToken
private import KeySource
internal import NIOCore
package import NIOPosix

/// The service: two listeners over the same event loops, and the providers' keys behind them.
package final class AssayServer: Sendable {
    private let providers: [Provider]
    private let loops: PerLoop<ServiceLoop>
    private let serviceListener: HTTPListener
    private let adminListener: HTTPListener
    /// Of the listeners that speak TLS.
    private let certificates: [CertificateWatch]
    private let log: Log
    private let sink: LogSink

    /// Where the service listens, and how.
    package struct Configuration: Sendable {
        package var service: ListenAddress
        package var admin: ListenAddress
        /// What the listeners speak TLS with; `nil`: plain HTTP.
        package var serviceTLS: TLSFiles?
        package var adminTLS: TLSFiles?
        package var limits = ListenerLimits()
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
        on group: MultiThreadedEventLoopGroup,
        log: Log, sink: LogSink
    ) async throws -> AssayServer {
        let serviceTLS = try configuration.serviceTLS.map { try CertificateWatch("service", $0, log: log) }
        let adminTLS = try configuration.adminTLS.map { try CertificateWatch("admin", $0, log: log) }
        let certificates = [serviceTLS, adminTLS].compactMap(\.self)
        let loops = try await PerLoop(on: group) { loop in
            try ServiceLoop(on: loop, configuration.settings, providers, sink)
        }
        try await startKeys(of: providers, for: loops, on: group.next())

        let serviceListener = try await HTTPListener.bind(
            configuration.service, tls: serviceTLS?.tls, on: group, limits: configuration.limits,
            unixSeconds: SystemClocks.unixSeconds
        ) { ServiceResponder(loops[$0]) }
        let scrape = Scrape(
            providers: providers, loops: loops, telemetry: telemetry, listener: serviceListener,
            certificates: certificates, sink: sink, version: configuration.version)
        let adminListener = try await HTTPListener.bind(
            configuration.admin, tls: adminTLS?.tls, on: group, limits: configuration.limits,
            unixSeconds: SystemClocks.unixSeconds
        ) { loop in AdminResponder(loops[loop], scrape: { scrape.page(on: loop) }) }
        for watch in certificates { watch.start(on: group.next()) }

        log.write(.info, "listening", [("listener", .text("service")), ("address", .text(serviceListener.address))])
        log.write(.info, "listening", [("listener", .text("admin")), ("address", .text(adminListener.address))])
        return AssayServer(
            providers: providers, loops: loops, serviceListener: serviceListener, adminListener: adminListener,
            certificates: certificates, log: log, sink: sink)
    }

    /// Begins to fetch every provider's keys, and has every loop told of them; what was kept of them is there at the end.
    static func startKeys(
        of providers: [Provider], for loops: PerLoop<ServiceLoop>, on loop: any EventLoop
    ) async throws {
        for (index, provider) in providers.enumerated() {
            try await provider.keys.subscribe { snapshot in
                .andAllComplete(
                    loops.onEach { $0.verifications.install(snapshot, provider: index) }, on: provider.keys.loop)
            }.get()
        }
        try await EventLoopFuture.andAllSucceed(providers.map { $0.keys.start() }, on: loop).get()
    }

    private init(
        providers: [Provider], loops: PerLoop<ServiceLoop>, serviceListener: HTTPListener, adminListener: HTTPListener,
        certificates: [CertificateWatch], log: Log, sink: LogSink
    ) {
        self.providers = providers
        self.loops = loops
        self.serviceListener = serviceListener
        self.adminListener = adminListener
        self.certificates = certificates
        self.log = log
        self.sink = sink
    }

    package var serviceAddress: String { serviceListener.address }

    /// Has the files of the listeners' certificates looked at now, and not at the next turn.
    package func reloadCertificates() async {
        for watch in certificates { await watch.look() }
    }

    /// Stops: unready at once, requests under way finished within the grace, then everything closed.
    package func stop(grace: Interval) async {
        log.write(.info, "stopping")
        for told in loops.onEach({ $0.isStopping = true }) { try? await told.get() }
        await serviceListener.drain(atMost: grace)
        await serviceListener.close()
        await adminListener.close()
        for provider in providers { provider.keys.stop() }
        for flushed in loops.onEach({ $0.flushLog() }) { try? await flushed.get() }
        log.write(.info, "stopped")
        await sink.close()
    }
}

/// Gathers what all loops have counted.
private struct Scrape: Sendable {
    let providers: [Provider]
    let loops: PerLoop<ServiceLoop>
    let telemetry: KeyTelemetry
    let listener: HTTPListener
    let certificates: [CertificateWatch]
    let sink: LogSink
    let version: String

    /// The metrics page, made on one of the loops.
    func page(on loop: any EventLoop) -> EventLoopFuture<[UInt8]> {
        let metrics = EventLoopFuture.whenAllSucceed(loops.onEach { $0.metrics }, on: loop)
        let statuses = EventLoopFuture.whenAllSucceed(providers.map { $0.keys.status() }, on: loop)
        return metrics.and(statuses).map { metrics, statuses in
            var sum = LoopMetrics()
            for part in metrics { sum.add(part) }
            return MetricsPage(
                providers: providers, loops: sum, statuses: statuses, keyCounts: telemetry.current,
                openConnections: listener.openConnections, requestsInFlight: listener.requestsInFlight,
                bufferedBytes: listener.bufferedBytes, certificates: certificates,
                droppedLogBytes: sink.droppedBytes, version: version, now: SystemClocks.monotonic(),
                unixMilliseconds: SystemClocks.unixMilliseconds()
            ).text()
        }
    }
}
