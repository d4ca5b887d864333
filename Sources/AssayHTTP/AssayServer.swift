package import Clocks
package import HTTPListener
private import IDToken
private import KeySource
internal import NIOCore
package import NIOPosix

/// The service: two listeners over the same event loops, and the providers' keys behind them.
package final class AssayServer: Sendable {
    private let providers: [Provider]
    private let loops: [(loop: any EventLoop, service: NIOLoopBound<ServiceLoop>)]
    private let serviceListener: HTTPListener
    private let adminListener: HTTPListener
    private let log: Log
    private let sink: LogSink

    /// Where the service listens, and how.
    package struct Configuration: Sendable {
        package var service: ListenAddress
        package var admin: ListenAddress
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
    /// - Throws: an I/O error where an address can't be bound.
    package static func start(
        _ configuration: Configuration, providers: [Provider], telemetry: KeyTelemetry,
        on group: MultiThreadedEventLoopGroup,
        log: Log, sink: LogSink
    ) async throws -> AssayServer {
        var loops: [(loop: any EventLoop, service: NIOLoopBound<ServiceLoop>)] = []
        for loop in group.makeIterator() {
            let service = try await loop.submit {
                NIOLoopBound(try ServiceLoop(on: loop, configuration.settings, providers, sink), eventLoop: loop)
            }.get()
            loops.append((loop, service))
        }
        try await connect(providers, to: loops)
        try await EventLoopFuture.andAllSucceed(providers.map { $0.keys.start() }, on: group.next()).get()

        let placed = loops
        let services = Dictionary(uniqueKeysWithValues: placed.map { (ObjectIdentifier($0.loop), $0.service) })
        @Sendable func service(on loop: any EventLoop) -> ServiceLoop {
            // Both listeners run on the loops of this group, each of which was given its service above.
            guard let service = services[ObjectIdentifier(loop)] else { preconditionFailure("a loop of another group") }
            return service.value
        }
        let serviceListener = try await HTTPListener.bind(
            configuration.service, on: group, limits: configuration.limits, unixSeconds: SystemClocks.unixSeconds
        ) { ServiceResponder(service(on: $0)) }
        let scrape = Scrape(
            providers: providers, loops: placed, telemetry: telemetry, listener: serviceListener, sink: sink,
            version: configuration.version)
        let adminListener = try await HTTPListener.bind(
            configuration.admin, on: group, limits: configuration.limits, unixSeconds: SystemClocks.unixSeconds
        ) { loop in AdminResponder(service(on: loop), scrape: { scrape.page(on: loop) }) }

        log.write(.info, "listening", [("listener", .text("service")), ("address", .text(serviceListener.address))])
        log.write(.info, "listening", [("listener", .text("admin")), ("address", .text(adminListener.address))])
        return AssayServer(
            providers: providers, loops: placed, serviceListener: serviceListener, adminListener: adminListener,
            log: log,
            sink: sink)
    }

    /// Has every loop told of every provider's new keys.
    static func connect(
        _ providers: [Provider], to loops: [(loop: any EventLoop, service: NIOLoopBound<ServiceLoop>)]
    ) async throws {
        for (index, provider) in providers.enumerated() {
            try await provider.keys.subscribe { snapshot in
                let installed = loops.map { loop, service in
                    loop.submit { service.value.verifications.install(snapshot, provider: index) }
                }
                return .andAllComplete(installed, on: provider.keys.loop)
            }.get()
        }
    }

    private init(
        providers: [Provider], loops: [(loop: any EventLoop, service: NIOLoopBound<ServiceLoop>)],
        serviceListener: HTTPListener, adminListener: HTTPListener, log: Log, sink: LogSink
    ) {
        self.providers = providers
        self.loops = loops
        self.serviceListener = serviceListener
        self.adminListener = adminListener
        self.log = log
        self.sink = sink
    }

    package var serviceAddress: String { serviceListener.address }

    /// Stops: unready at once, requests under way finished within the grace, then everything closed.
    package func stop(grace: Interval) async {
        log.write(.info, "stopping")
        for (loop, service) in loops { loop.execute { service.value.isStopping = true } }
        let end = SystemClocks.monotonic() + grace
        while serviceListener.requestsInFlight > 0, SystemClocks.monotonic() < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
        await serviceListener.close()
        await adminListener.close()
        for provider in providers { provider.keys.stop() }
        for (loop, service) in loops { try? await loop.submit { service.value.flushLog() }.get() }
        log.write(.info, "stopped")
        await sink.close()
    }
}

/// Gathers what all loops have counted.
private struct Scrape: Sendable {
    let providers: [Provider]
    let loops: [(loop: any EventLoop, service: NIOLoopBound<ServiceLoop>)]
    let telemetry: KeyTelemetry
    let listener: HTTPListener
    let sink: LogSink
    let version: String

    /// The metrics page, made on one of the loops.
    func page(on loop: any EventLoop) -> EventLoopFuture<[UInt8]> {
        let parts = loops.map { loop, service in
            loop.submit { (metrics: service.value.metrics, snapshots: service.value.verifications.snapshots) }
        }
        return EventLoopFuture.whenAllSucceed(parts, on: loop).map { parts in
            var sum = LoopMetrics()
            for part in parts { sum.add(part.metrics) }
            return MetricsPage(
                providers: providers, loops: sum, snapshots: parts.first?.snapshots ?? [], fetches: telemetry.outcomes,
                openConnections: listener.openConnections, requestsInFlight: listener.requestsInFlight,
                droppedLogBytes: sink.droppedBytes, version: version, now: SystemClocks.monotonic()
            ).text()
        }
    }
}
