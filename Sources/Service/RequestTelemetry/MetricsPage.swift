internal import Verification
internal import Host
internal import HTTPServer
private import IDToken
private import JOSE
internal import KeySource
internal import Telemetry

/// Every metric of the service, declared in one place. Label values come from closed sets: routes, codes, and the ids of
/// configured providers, so that nothing a caller sends can add a time series.
struct MetricsPage {
    let providers: [Provider]
    /// The ids of these and of those that were configured before, by number.
    let providerIDs: [String]
    let loops: LoopMetrics
    let statuses: [KeyStatus]
    let keyCounts: KeyTelemetry.Counts
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

    func text() -> [UInt8] {
        var page = PrometheusText()
        page.metric("assay_build_info", .gauge, "The version of this service; always 1.")
        page.sample("assay_build_info", [("version", version)], 1)
        writeRequests(to: &page)
        writeVerifications(to: &page)
        writeKeys(to: &page)
        writeConfigurations(to: &page)
        writeLoad(to: &page)
        writeProcess(to: &page)
        writeTLS(to: &page)
        page.metric(
            "assay_log_dropped_bytes_total", .counter, "Bytes of log lines dropped because nobody read them in time.")
        page.sample("assay_log_dropped_bytes_total", [], droppedLogBytes)
        writeSpans(to: &page)
        return page.bytes
    }

    private func writeRequests(to page: inout PrometheusText) {
        page.metric("assay_http_requests_total", .counter, "Answered requests by route and status.")
        for (answer, count) in loops.requests {
            page.sample(
                "assay_http_requests_total",
                [("route", "\(answer.route.pattern)"), ("status", String(answer.status))], count)
        }
        writeCallers(to: &page)
        page.metric(
            "assay_verify_duration_seconds", .histogram,
            "Time from the taking up of a verify request to its answer; its wait in the socket before is not in it.")
        page.histogram("assay_verify_duration_seconds", loops.verifyDurations)
    }

    private func writeCallers(to page: inout PrometheusText) {
        page.metric(
            "assay_api_key_requests_total", .counter,
            "Answered requests by the API key that was presented, by its name.")
        for case (.apiKey(let name, let listener), let count) in loops.callers {
            page.sample("assay_api_key_requests_total", [("listener", listener.rawValue), ("key", name)], count)
        }
        page.metric(
            "assay_client_certificate_requests_total", .counter,
            "Answered requests by the name in the client's certificate; other, where there are too many.")
        for case (.certificate(let name, let listener), let count) in loops.callers {
            page.sample(
                "assay_client_certificate_requests_total", [("listener", listener.rawValue), ("client", name)], count)
        }
    }

    private func writeSpans(to page: inout PrometheusText) {
        page.metric("assay_trace_spans_exported_total", .counter, "Spans that the collector has taken.")
        page.sample("assay_trace_spans_exported_total", [], spans.exported)
        page.metric("assay_trace_spans_dropped_total", .counter, "Spans that were not exported, by reason.")
        for (reason, count) in [
            ("queue_full", spans.droppedForWantOfRoom), ("export_failed", spans.droppedByFailure),
            ("rejected", spans.rejected),
        ] { page.sample("assay_trace_spans_dropped_total", [("reason", reason)], count) }
    }

    private func writeLoad(to page: inout PrometheusText) {
        page.metric("assay_connections", .gauge, "Open connections on the service listener.")
        page.sample("assay_connections", [], service.openConnections)
        page.metric("assay_requests_in_flight", .gauge, "Requests that are being read or wait for keys.")
        page.sample("assay_requests_in_flight", [], service.requestsInFlight)
        page.metric(
            "assay_buffered_bytes", .gauge,
            "Bytes held for requests that are incomplete, queued or waiting for keys, and for responses that clients do not read."
        )
        page.sample("assay_buffered_bytes", [], service.bufferedBytes)
        page.metric("assay_limit", .gauge, "What the settings allow of these.")
        for (limit, allowed) in [
            ("max_connections", service.limits.maximumConnections), ("max_in_flight", service.limits.maximumInFlight),
            ("max_buffered", service.limits.maximumBuffered),
        ] {
            page.sample("assay_limit", [("limit", limit)], allowed)
        }
        page.metric(
            "assay_overloaded_total", .counter,
            "Connections and requests refused as overloaded, and slow readers disconnected, by the limit they were over."
        )
        for (limit, count) in [
            ("max_connections", service.refusedConnections), ("max_in_flight", service.refusedWaiting),
            ("max_buffered", service.refusedBytes), ("queue_timeout", loops.refusedByQueue),
        ] {
            page.sample("assay_overloaded_total", [("limit", limit)], count)
        }
    }

    private func writeProcess(to page: inout PrometheusText) {
        page.metric("process_cpu_seconds_total", .counter, "User and system time of the process.")
        page.sample("process_cpu_seconds_total", [], process.cpuSeconds)
        page.metric("process_resident_memory_bytes", .gauge, "Memory of the process that is in RAM.")
        page.sample("process_resident_memory_bytes", [], process.residentBytes)
        page.metric("process_open_fds", .gauge, "Files and sockets that the process has open.")
        page.sample("process_open_fds", [], process.openDescriptors)
        page.metric("process_max_fds", .gauge, "Files and sockets that the process may have open.")
        page.sample("process_max_fds", [], process.descriptorLimit)
        page.metric("process_start_time_seconds", .gauge, "When the service started.")
        page.sample("process_start_time_seconds", [], Int(startedAtUnixSeconds))
    }

    private func writeTLS(to page: inout PrometheusText) {
        page.metric(
            "assay_tls_certificate_expiry_timestamp_seconds", .gauge, "When the certificate of a listener ends.")
        for watch in certificates {
            page.sample(
                "assay_tls_certificate_expiry_timestamp_seconds", [("listener", watch.name)],
                Int(watch.tls.expiresAtUnixSeconds))
        }
        page.metric("assay_tls_reloads_total", .counter, "Changed certificate files that were read, by outcome.")
        for watch in certificates {
            let counts = watch.counts
            for (result, count) in [("success", counts.successes), ("failure", counts.failures)] {
                page.sample("assay_tls_reloads_total", [("listener", watch.name), ("result", result)], count)
            }
        }
        page.metric(
            "assay_tls_handshake_failures_total", .counter,
            "TLS handshakes that came to nothing, but for those that the client broke off.")
        for watch in certificates {
            page.sample(
                "assay_tls_handshake_failures_total", [("listener", watch.name)], watch.tls.handshakeFailures)
        }
    }

    private func writeVerifications(to page: inout PrometheusText) {
        page.metric("assay_verifications_total", .counter, "Tokens by provider and verdict; ok, or the problem's code.")
        for (verdict, count) in loops.verifications {
            let provider = verdict.provider.map { providerIDs[$0] } ?? ""
            page.sample("assay_verifications_total", [("provider", provider), ("code", verdict.code)], count)
        }
    }

    private func writeConfigurations(to page: inout PrometheusText) {
        page.metric(
            "assay_configuration_reloads_total", .counter, "How often the settings file was read again, by outcome.")
        page.sample("assay_configuration_reloads_total", [("result", "success")], configurations.successes)
        page.sample("assay_configuration_reloads_total", [("result", "failure")], configurations.failures)
        page.metric(
            "assay_configuration_last_reload_successful", .gauge,
            "1 if the settings are those of the file as it was last read, 0 if the file was refused.")
        page.sample("assay_configuration_last_reload_successful", [], configurations.isLastSuccessful ? 1 : 0)
        page.metric(
            "assay_configuration_last_reload_success_timestamp_seconds", .gauge,
            "When the settings in force were taken from the file.")
        page.sample(
            "assay_configuration_last_reload_success_timestamp_seconds", [],
            Int(configurations.lastSuccessUnixSeconds))
    }

    private func writeKeys(to page: inout PrometheusText) {
        let kept = zip(providers, statuses).map { (id: $0.policy.id, snapshot: $1.snapshot) }
        page.metric("assay_keys_state", .gauge, "1 for the state that a provider's keys are in, else 0.")
        for (id, snapshot) in kept {
            let current = KeyState(snapshot, at: now)
            for state in [KeyState.ready, .stale, .unavailable] {
                page.sample(
                    "assay_keys_state", [("provider", id), ("state", state.rawValue)], state == current ? 1 : 0)
            }
        }
        page.metric("assay_keys_age_seconds", .gauge, "Time since the keys in use were fetched.")
        for case (let id, let snapshot?) in kept {
            page.sample(
                "assay_keys_age_seconds", [("provider", id)], Double((now - snapshot.fetchedAt).milliseconds) / 1000)
        }
        page.metric("assay_keys_last_success_timestamp_seconds", .gauge, "When keys were last fetched.")
        for case (let id, let snapshot?) in kept {
            page.sample(
                "assay_keys_last_success_timestamp_seconds", [("provider", id)], Int(snapshot.fetchedAtUnixSeconds))
        }
        page.metric("assay_keys_usable", .gauge, "Keys of the set in use that can verify.")
        for case (let id, let snapshot?) in kept {
            page.sample("assay_keys_usable", [("provider", id)], snapshot.keys.keys.count { $0.isUsable })
        }
        page.metric(
            "assay_keys_hash", .gauge, "48 bits of a hash of the keys in use: the same keys have the same number.")
        for case (let id, let snapshot?) in kept {
            page.sample("assay_keys_hash", [("provider", id)], Int(snapshot.fingerprint))
        }
        page.metric(
            "assay_keys_omitted", .gauge, "Keys in use that the provider's last answer left out, for now or for good.")
        for case (let id, let snapshot?) in kept {
            page.sample("assay_keys_omitted", [("provider", id)], snapshot.omittedKeyCount)
        }
        page.metric(
            "assay_keys_next_fetch_timestamp_seconds", .gauge,
            "When keys are to be fetched next; absent while they are being fetched.")
        for (provider, status) in zip(providers, statuses) {
            guard let pause = status.nextFetchIn else { continue }
            page.sample(
                "assay_keys_next_fetch_timestamp_seconds", [("provider", provider.policy.id)],
                Int((unixMilliseconds + pause.milliseconds) / 1000))
        }
        writeFetches(to: &page)
    }

    private func writeFetches(to page: inout PrometheusText) {
        page.metric("assay_key_fetches_total", .counter, "Fetches of keys by outcome and, where they failed, phase.")
        for (fetch, count) in keyCounts.fetches {
            page.sample(
                "assay_key_fetches_total",
                [
                    ("provider", fetch.provider), ("result", fetch.failedPhase == nil ? "success" : "failure"),
                    ("phase", fetch.failedPhase?.rawValue ?? ""),
                ], count)
        }
        page.metric(
            "assay_unknown_key_fetches_total", .counter,
            "Fetches of keys that unknown kids and bad signatures caused.")
        for (provider, count) in keyCounts.unknownKeyFetches {
            page.sample("assay_unknown_key_fetches_total", [("provider", provider)], count)
        }
        page.metric(
            "assay_unknown_key_fetches_refused_total", .counter,
            "Unknown kids and bad signatures that caused no fetch: no budget left.")
        for (provider, count) in keyCounts.refusals {
            page.sample("assay_unknown_key_fetches_refused_total", [("provider", provider)], count)
        }
    }
}
