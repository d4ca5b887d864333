internal import HTTP
private import IDToken
private import JOSE
internal import Keys
internal import NIOCore
private import OAuth
internal import SignIns
internal import Verification

/// Declares every metric of the service. Label values come from closed sets (routes, codes, IDs of configured
/// providers) or are limited in number (names in client certificates), so callers can't create unlimited time series.
struct MetricsPage {
    let providers: [Provider]
    /// The IDs of current and former providers, indexed by number.
    let providerIDs: [String]
    let loops: LoopMetrics
    /// The store of sign-ins and nonces, as each event loop sees it; empty if nothing is single-use.
    var stores: [StoreStatus] = []
    /// The store of DPoP proofs; empty if they are not remembered.
    var proofStores: [StoreStatus] = []
    /// In the order of ``providers``.
    let statuses: [ProviderKeyState]
    let keyCounts: KeyTelemetry.Counts
    /// `nil` if calls are not counted.
    var calls: CallTelemetry.Counts?
    let configurations: ConfigurationTelemetry.Counts
    let service: ListenerUsage
    let process: ProcessUsage
    let startedAtUnixSeconds: Int64
    let certificates: [CertificateWatch]
    let droppedLogBytes: Int
    let spans: SpanQueue.Counts
    let version: String
    let now: MonotonicTime
    let unixMilliseconds: Int64

    private typealias Sample = PrometheusText.Sample

    func text() -> [UInt8] {
        var page = PrometheusText()
        page.metric(
            "assay_build_info", .gauge, "The version of this service; always 1.", labels: ["version"],
            [Sample([version], 1)])
        let features = ProviderFeatures(providers)
        for counter in LoopMetrics.counters where counter.feature.map({ isOn($0, features) }) ?? true {
            counter.write(loops, ProviderNames(ids: providerIDs), &page)
        }
        writeRequests(to: &page)
        writeStore(to: &page)
        writeProofStore(to: &page)
        writeCalls(to: &page)
        writeKeys(to: &page)
        writeFetches(to: &page)
        writeConfigurations(to: &page)
        writeLoad(to: &page)
        writeProcess(to: &page)
        writeTLS(to: &page)
        page.metric(
            "assay_log_dropped_bytes_total", .counter,
            "Bytes of log lines dropped because standard error was not read in time.",
            droppedLogBytes)
        writeSpans(to: &page)
        return page.bytes
    }

    private func isOn(_ feature: Feature, _ features: ProviderFeatures) -> Bool {
        switch feature {
        case .signIns: !stores.isEmpty
        case .clients: features.hasClients
        case .notifications: features.acceptsNotifications
        case .accessTokens: features.acceptsAccessTokens
        // It has no metrics of its own.
        case .resources: false
        case .forwardAuth: loops.forwardAuth.contains { _ in true }
        // It has no metrics of its own.
        case .clientKeys: false
        }
    }

    private func writeRequests(to page: inout PrometheusText) {
        page.metric(
            "assay_api_key_requests_total", .counter,
            "Answered requests by the API key that was presented, by its name.", labels: ["listener", "key"],
            loops.callers.compactMap { caller, count in
                guard case .apiKey(let name, let listener) = caller else { return nil }
                return Sample([listener.rawValue, name], count)
            })
        page.metric(
            "assay_client_certificate_requests_total", .counter,
            "Answered requests by the name in the client's certificate; other if there are too many names.",
            labels: ["listener", "client"],
            loops.callers.compactMap { caller, count in
                guard case .certificate(let name, let listener) = caller else { return nil }
                return Sample([listener.rawValue, name], count)
            })
        page.metric(
            "assay_verify_duration_seconds", .histogram,
            "Time from the start of handling a verify request to its response, without the wait in the socket.")
        page.histogram("assay_verify_duration_seconds", loops.verifyDurations)
    }

    private func writeKeys(to page: inout PrometheusText) {
        let all = zip(providers.map(\.policy.id), statuses)
        let single = all.compactMap { id, state in state.ofOneIssuer.map { (id, $0) } }
        writeIssuers(all.compactMap { id, state in state.ofMany.map { (id, $0) } }, to: &page)
        page.metric(
            "assay_keys_state", .gauge, "1 for the current state of a provider's keys, else 0.",
            labels: ["provider", "state"],
            single.flatMap { id, status in
                let current = KeyState(status.snapshot, at: now)
                return [KeyState.ready, .stale, .unavailable].map { state in
                    Sample([id, state.rawValue], state == current ? 1 : 0)
                }
            })
        /// A sample for each provider that has keys.
        func samples<Value: Numeric>(_ value: (KeySnapshot) -> Value) -> [Sample] {
            single.compactMap { id, status in status.snapshot.map { Sample([id], value($0)) } }
        }
        page.metric(
            "assay_keys_age_seconds", .gauge, "Time since the keys in use were fetched.", labels: ["provider"],
            samples { Double((now - $0.fetchedAt).milliseconds) / 1000 })
        page.metric(
            "assay_keys_last_success_timestamp_seconds", .gauge, "When keys were last fetched.", labels: ["provider"],
            samples(\.fetchedAtUnixSeconds))
        page.metric(
            "assay_keys_usable", .gauge, "Keys of the set in use that can verify.", labels: ["provider"],
            samples { $0.keys.keys.count { $0.isUsable } })
        page.metric(
            "assay_keys_hash", .gauge, "48 bits of a hash of the keys in use; equal for equal keys.",
            labels: ["provider"],
            samples(\.fingerprint))
        page.metric(
            "assay_keys_omitted", .gauge, "Keys in use that the provider's last response omitted.",
            labels: ["provider"],
            samples(\.omittedKeyCount))
        page.metric(
            "assay_keys_next_fetch_timestamp_seconds", .gauge,
            "When the next fetch is due; absent during a fetch.", labels: ["provider"],
            single.compactMap { id, status in
                status.nextFetchIn.map { Sample([id], Int((unixMilliseconds + $0.milliseconds) / 1000)) }
            })
    }

    private func writeIssuers(_ entries: [(id: String, summary: IssuerPoolSummary)], to page: inout PrometheusText) {
        guard !entries.isEmpty else { return }
        page.metric(
            "assay_issuers", .gauge,
            "Issuers of an entry with many about which something is known, by the state of their keys.",
            labels: ["provider", "state"],
            entries.flatMap { id, summary in summary.counts.map { Sample([id, $0.state.rawValue], $0.count) } })
    }

    private func writeFetches(to page: inout PrometheusText) {
        page.metric(
            "assay_key_fetches_total", .counter, "Fetches of keys by outcome and, if they failed, phase.",
            labels: ["provider", "result", "phase"],
            keyCounts.fetches.map { fetch, count in
                let result = fetch.failedPhase == nil ? "success" : "failure"
                return Sample([fetch.provider, result, fetch.failedPhase?.rawValue ?? ""], count)
            })
        page.metric(
            "assay_unknown_key_fetches_total", .counter,
            "Fetches of keys that unknown kids and bad signatures caused.", labels: ["provider"],
            keyCounts.tokenFetches.map { Sample([$0], $1) })
        page.metric(
            "assay_unknown_key_fetches_refused_total", .counter,
            "Unknown kids and bad signatures that caused no fetch: no budget left.", labels: ["provider"],
            keyCounts.refusals.map { Sample([$0], $1) })
    }

    private func writeConfigurations(to page: inout PrometheusText) {
        page.metric(
            "assay_configuration_reloads_total", .counter, "Reloads of the settings file, by outcome.",
            labels: ["result"],
            [
                Sample(["success"], configurations.successes),
                Sample(["failure"], configurations.failures),
            ])
        page.metric(
            "assay_configuration_last_reload_successful", .gauge,
            "1 if the current settings are those of the file, 0 if the last reload was rejected.",
            configurations.isLastSuccessful ? 1 : 0)
        page.metric(
            "assay_configuration_last_reload_success_timestamp_seconds", .gauge,
            "When the current settings were loaded from the file.", configurations.lastSuccessUnixSeconds)
    }

    private func writeLoad(to page: inout PrometheusText) {
        page.metric(
            "assay_connections", .gauge, "Open connections on the service listener.", service.openConnections)
        page.metric(
            "assay_requests_in_flight", .gauge,
            "Requests that are being read, or wait for keys, the store or a provider.",
            service.requestsInFlight)
        page.metric(
            "assay_buffered_bytes", .gauge,
            "Bytes held for requests that are incomplete, queued or waiting, and for responses that clients do not read.",
            service.bufferedBytes)
        page.metric(
            "assay_limit", .gauge, "The configured limit.", labels: ["limit"],
            [
                Sample(["max_connections"], service.limits.maximumConnections),
                Sample(["max_in_flight"], service.limits.maximumInFlight),
                Sample(["max_buffered"], service.limits.maximumBuffered),
            ])
        page.metric(
            "assay_overloaded_total", .counter,
            "Connections and requests refused as overloaded, and slow readers disconnected, by the exceeded limit.",
            labels: ["limit"],
            [
                Sample(["max_connections"], service.refusedConnections),
                Sample(["max_in_flight"], service.refusedWaiting),
                Sample(["max_buffered"], service.refusedBytes),
                Sample(["queue_timeout"], loops.refusedByQueue),
            ])
    }

    private func writeProcess(to page: inout PrometheusText) {
        page.metric(
            "process_cpu_seconds_total", .counter, "User and system time of the process.", process.cpuSeconds)
        page.metric(
            "process_resident_memory_bytes", .gauge, "Memory of the process that is in RAM.", process.residentBytes)
        page.metric(
            "process_open_fds", .gauge, "Files and sockets that the process has open.", process.openDescriptors)
        page.metric(
            "process_max_fds", .gauge, "Files and sockets that the process may have open.", process.descriptorLimit)
        page.metric("process_start_time_seconds", .gauge, "When the service started.", startedAtUnixSeconds)
    }

    private func writeTLS(to page: inout PrometheusText) {
        page.metric(
            "assay_tls_certificate_expiry_timestamp_seconds", .gauge, "When a listener's certificate expires.",
            labels: ["listener"],
            certificates.map { Sample([$0.name], Int($0.tls.expiresAtUnixSeconds)) })
        page.metric(
            "assay_tls_reloads_total", .counter, "Reloads of changed certificate files, by outcome.",
            labels: ["listener", "result"],
            certificates.flatMap { watch in
                let counts = watch.files.counts
                return [("success", counts.successes), ("failure", counts.failures)].map { result, count in
                    Sample([watch.name, result], count)
                }
            })
        page.metric(
            "assay_tls_handshake_failures_total", .counter,
            "Failed TLS handshakes, except those that the client aborted.", labels: ["listener"],
            certificates.map { Sample([$0.name], $0.tls.handshakeFailures) })
    }

    private func writeSpans(to page: inout PrometheusText) {
        page.metric(
            "assay_trace_spans_exported_total", .counter, "Spans that the collector has accepted.", spans.exported)
        page.metric(
            "assay_trace_spans_dropped_total", .counter, "Spans that were not exported, by reason.", labels: ["reason"],
            [
                Sample(["queue_full"], spans.droppedForWantOfRoom),
                Sample(["export_failed"], spans.droppedByFailure),
                Sample(["rejected"], spans.rejected),
            ])
    }
}

extension MetricsPage {
    /// Writes the metrics of providers' endpoints, if a provider has clients.
    func writeCalls(to page: inout PrometheusText) {
        let called = providers.compactMap { provider in provider.callSlots.map { (provider.policy.id, $0) } }
        guard let counts = calls, !called.isEmpty || !counts.calls.isEmpty else { return }
        page.metric(
            "assay_provider_calls_total", .counter,
            "Requests to providers' token, revocation, UserInfo, introspection and pushed authorization request endpoints, by outcome.",
            labels: ["provider", "endpoint", "outcome"],
            counts.calls.map { call, count in
                Sample([call.provider, call.endpoint.rawValue, call.outcome.rawValue], count)
            })
        page.metric(
            "assay_provider_call_duration_seconds", .histogram,
            "Duration of requests to providers' endpoints, including name resolution and connecting.",
            labels: ["endpoint"])
        for (endpoint, durations) in counts.durations {
            page.histogram("assay_provider_call_duration_seconds", durations, [("endpoint", endpoint.rawValue)])
        }
        page.metric(
            "assay_provider_connections_total", .counter,
            "Connections for requests to providers' endpoints, by outcome: opened, reused or failed.",
            labels: ["provider", "outcome"],
            counts.connections.map { connection, count in
                Sample([connection.provider, connection.use.rawValue], count)
            })
        page.metric(
            "assay_provider_calls_in_flight", .gauge, "Requests that hold one of a provider's max_calls slots.",
            labels: ["provider"],
            called.map { Sample([$0], $1.inFlight) })
        page.metric(
            "assay_provider_calls_full_total", .counter,
            "Requests refused because all of a provider's max_calls were in flight.", labels: ["provider"],
            called.map { Sample([$0], $1.fullCount) })
    }
}

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
            loops.onEach { (metrics: $0.metrics, store: $0.claims?.status, proofStore: $0.proofStore?.status) },
            on: loop)
        return counted.flatMap { parts in
            // Must be read after the loops' counters: a provider is registered before any loop counts its requests.
            let registry = served.registry
            let statuses = EventLoopFuture.whenAllSucceed(registry.providers.map { $0.keyState() }, on: loop)
            return statuses.map { statuses in
                MetricsPage(
                    providers: registry.providers, providerIDs: registry.ids,
                    loops: LoopMetrics(sumOf: parts.map(\.metrics)), stores: parts.compactMap(\.store),
                    proofStores: parts.compactMap(\.proofStore), statuses: statuses, keyCounts: telemetry.current,
                    calls: calls?.current, configurations: configurations.current, service: listener.usage,
                    process: .now(), startedAtUnixSeconds: startedAtUnixSeconds, certificates: certificates,
                    droppedLogBytes: sink.droppedBytes, spans: spans?.counts ?? SpanQueue.Counts(), version: version,
                    now: SystemClocks.monotonic(), unixMilliseconds: SystemClocks.unixMilliseconds()
                ).text()
            }
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
                metrics: LoopMetrics(sumOf: parts.map(\.metrics)), stores: parts.compactMap(\.store),
                providerIDs: registry.ids, features: ProviderFeatures(registry.providers),
                answersGateways: parts.contains(where: \.answersGateways))
        }
    }
}
