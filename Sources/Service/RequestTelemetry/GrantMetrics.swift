internal import Telemetry
private import Verification

/// One event loop's counters of codes that were exchanged, and of tokens that were refreshed or revoked.
struct GrantMetrics: Sendable {
    private(set) var all = Counter<Label>()
    /// Grants that were dropped because their request was refused afterwards.
    private(set) var dropped = Counter<LoopMetrics.VerdictLabel>()

    enum Operation: String, Sendable {
        case exchange, refresh, revoke
    }

    struct Label: Equatable, Sendable {
        let provider: Int
        let operation: Operation
        let code: String
    }

    /// - Parameter code: `ok`, or the problem's.
    mutating func count(_ provider: Int, _ operation: Operation, code: String) {
        all.count(Label(provider: provider, operation: operation, code: code))
    }

    mutating func countDropped(_ provider: Int, code: String) {
        dropped.count(LoopMetrics.VerdictLabel(provider: provider, code: code))
    }

    mutating func add(_ other: GrantMetrics) {
        all.add(other.all)
        dropped.add(other.dropped)
    }
}

extension MetricsPage {
    func writeGrants(to page: inout PrometheusText) {
        guard providers.contains(where: { $0.grants != nil }) else { return }
        page.metric(
            "assay_grants_total", .counter,
            "Exchanges of codes, refreshes and revocations, by provider and outcome; ok, or the problem's code.",
            loops.grants.all.map { label, count in
                PrometheusText.Sample(
                    [
                        ("provider", providerIDs[label.provider]), ("operation", label.operation.rawValue),
                        ("code", label.code),
                    ], count)
            })
        page.metric(
            "assay_grants_dropped_total", .counter,
            "Grants dropped because the ID Token that came with them was refused, or the request failed.",
            loops.grants.dropped.map { label, count in
                let provider = label.provider.map { providerIDs[$0] } ?? ""
                return PrometheusText.Sample([("provider", provider), ("code", label.code)], count)
            })
    }
}
