internal import Telemetry
private import Grants
private import IDToken
private import ProviderClient
private import Verification

extension MetricsPage {
    /// Writes the metrics of providers' endpoints, if a provider has clients.
    func writeCalls(to page: inout PrometheusText) {
        let called = providers.compactMap { provider in provider.grants.map { (provider.policy.id, $0.slots) } }
        guard let counts = calls, !called.isEmpty || !counts.calls.isEmpty else { return }
        page.metric(
            "assay_provider_calls_total", .counter,
            "Requests to providers' token, revocation and UserInfo endpoints, by outcome.",
            counts.calls.map { call, count in
                PrometheusText.Sample(
                    [
                        ("provider", call.provider), ("endpoint", call.endpoint.rawValue),
                        ("outcome", call.outcome.rawValue),
                    ], count)
            })
        page.metric(
            "assay_provider_call_duration_seconds", .histogram,
            "Duration of requests to providers' endpoints, including name resolution and connecting.")
        for (endpoint, durations) in counts.durations {
            page.histogram("assay_provider_call_duration_seconds", durations, [("endpoint", endpoint.rawValue)])
        }
        page.metric(
            "assay_provider_connections_total", .counter,
            "Connections for requests to providers' endpoints, by outcome: opened, reused or failed.",
            counts.connections.map { connection, count in
                PrometheusText.Sample([("provider", connection.provider), ("outcome", connection.use.rawValue)], count)
            })
        page.metric(
            "assay_provider_calls_in_flight", .gauge, "Requests that hold one of a provider's max_calls slots.",
            called.map { PrometheusText.Sample([("provider", $0)], $1.inFlight) })
        page.metric(
            "assay_provider_calls_full_total", .counter,
            "Requests refused because all of a provider's max_calls were in flight.",
            called.map { PrometheusText.Sample([("provider", $0)], $1.fullCount) })
    }
}
