internal import HTTP
private import Keys
internal import NIOCore
internal import Replay
private import SignIns
internal import Verification

/// Collects the counters of all loops.
struct Scrape: Sendable {
    let served: ServedProviders
    let loops: PerLoop<ServiceLoop>
    let telemetry: KeyTelemetry
    /// `nil` if no provider can have clients.
    let calls: CallTelemetry?
    let configurations: ConfigurationTelemetry
    let listener: HTTPListener
    let certificates: [CertificateWatch]
    let sink: LogSink
    /// `nil`: there are none.
    let spans: SpanExporter?
    let version: String
    let startedAtUnixSeconds = SystemClocks.unixSeconds()

    /// The metrics page, created on one of the loops.
    func page(on loop: any EventLoop) -> EventLoopFuture<[UInt8]> {
        let counted = EventLoopFuture.whenAllSucceed(
            loops.onEach { (metrics: $0.metrics, stores: LoopStores($0)) }, on: loop)
        return counted.flatMap { parts in
            // Must be read after the loops' counters: a provider is registered before any loop counts its requests.
            let registry = served.registry
            let statuses = EventLoopFuture.whenAllSucceed(registry.providers.map { $0.keyState() }, on: loop)
            return statuses.map { page(parts, registry, $0) }
        }
    }

    /// The numbers of tokens by verdict, added up on one of the loops.
    func verdicts(on loop: any EventLoop) -> EventLoopFuture<Verdicts> {
        let counted = EventLoopFuture.whenAllSucceed(
            loops.onEach {
                (metrics: $0.metrics, store: $0.claims?.status, answersGateways: $0.forwardAuth != nil)
            }, on: loop)
        return counted.map { parts in
            let registry = served.registry
            return Verdicts(
                LoopMetrics(sumOf: parts.map(\.metrics)), parts.compactMap(\.store), registry.ids,
                ProviderFeatures(registry.providers),
                answersGateways: parts.contains(where: \.answersGateways))
        }
    }

    private func page(
        _ parts: [(metrics: LoopMetrics, stores: LoopStores)], _ registry: ProviderRegistry,
        _ statuses: [ProviderKeyState]
    ) -> [UInt8] {
        MetricsPage(
            providers: registry.providers, providerIDs: registry.ids, loops: LoopMetrics(sumOf: parts.map(\.metrics)),
            stores: parts.map(\.stores),
            statuses: statuses,
            keyCounts: telemetry.current, calls: calls?.current, configurations: configurations.current,
            service: listener.usage, process: .now(), startedAtUnixSeconds: startedAtUnixSeconds,
            certificates: certificates, droppedLogBytes: sink.droppedBytes,
            spans: spans?.counts ?? SpanQueue.Counts(), version: version, now: SystemClocks.monotonic(),
            unixMilliseconds: SystemClocks.unixMilliseconds()
        ).text()
    }
}
