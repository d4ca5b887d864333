internal import Replay
internal import SignIns
private import Verification

/// One event loop's counters for sign-ins.
struct SignInMetrics: Sendable {
    /// By provider number.
    var begun = Counter<Int>()
    /// By provider number (`nil` if unknown) and code; the code is `ok` for finished sign-ins.
    var finished = Counter<LoopMetrics.VerdictLabel>()
    var claims = Counter<Claim>()
    /// Claims that were released, because nothing was sent to the provider or because it refused the code, by whether
    /// the release was confirmed.
    var releases = Counter<Bool>()
    /// Response times of the store.
    var claimDurations = Histogram()

    /// The outcome of a claim, as a label.
    enum Claim: String, Sendable {
        case claimed
        case alreadyClaimed = "already_claimed"
        case unavailable
        /// The store did not answer in time, so the claim may or may not have been made.
        case unknown

        init(_ outcome: ClaimOutcome) {
            self =
                switch outcome {
                case .claimed: .claimed
                case .alreadyClaimed: .alreadyClaimed
                case .unavailable(mayBeClaimed: false): .unavailable
                case .unavailable(mayBeClaimed: true): .unknown
                }
        }
    }

    mutating func countBegun(provider: Int) { begun.count(provider) }

    mutating func countFinished(provider: Int?, code: String) {
        finished.count(LoopMetrics.VerdictLabel(provider: provider, code: code))
    }

    mutating func countClaim(_ outcome: ClaimOutcome, microseconds: Int64) {
        claims.count(Claim(outcome))
        claimDurations.record(microseconds: microseconds)
    }

    mutating func countRelease(_ isReleased: Bool) { releases.count(isReleased) }

    static let counters = [
        CounterRow(
            "assay_sign_ins_begun_total", "Sign-ins begun, by provider.", labels: ["provider"],
            \.signIns.begun, of: .signIns
        ) { provider, ids in
            [ids[provider]]
        },
        CounterRow(
            "assay_sign_ins_finished_total",
            "Attempts to finish a sign-in, by provider and outcome; ok, or the problem's code.",
            labels: ["provider", "code"], \.signIns.finished, of: .signIns
        ) { finish, ids in
            [ids[finish.provider], finish.code]
        },
        CounterRow(
            "assay_store_claims_total",
            "Attempts to record a sign-in or nonce as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"], \.signIns.claims, of: .signIns
        ) { claim, _ in
            [claim.rawValue]
        },
        CounterRow(
            "assay_store_releases_total",
            "Claims released because nothing was sent to the provider, or because it refused the code as invalid, by outcome; a claim whose release is unconfirmed may still exist.",
            labels: ["outcome"], \.signIns.releases, of: .signIns
        ) { isReleased, _ in
            [isReleased ? "released" : "unconfirmed"]
        },
    ]
}

extension MetricsPage {
    /// - Parameter stores: one per event loop; empty if nothing is single-use.
    func writeStore(to page: inout PrometheusText, _ stores: [StoreStatus]) {
        guard !stores.isEmpty else { return }
        page.metric(
            "assay_store_claim_duration_seconds", .histogram, "Duration of claims in the store.")
        page.histogram("assay_store_claim_duration_seconds", loops.signIns.claimDurations)
        page.metric(
            "assay_store_up", .gauge, "1 if every event loop can use the store, else 0; assay_store_state says why.",
            stores.allSatisfy { $0.health == .ok } ? 1 : 0)
        let health = stores.map(\.health).max()
        page.metric(
            "assay_store_state", .gauge, "1 for the worst state that an event loop sees the store in, else 0.",
            labels: ["state"],
            StoreHealth.allCases.map { PrometheusText.Sample([$0.rawValue], $0 == health ? 1 : 0) })
        if let fill = stores.compactMap(\.fill).max() {
            page.metric(
                "assay_store_used_ratio", .gauge,
                "Share of the store's room in use: of sign_ins.store.entries, or of the server's maxmemory.", fill)
        }
        if let entries = stores.compactMap(\.entries).max() {
            page.metric("assay_store_entries", .gauge, "Records in the memory store.", entries)
        }
    }
}

/// One event loop's counters of codes that were exchanged, and of tokens that were refreshed or revoked.
struct GrantMetrics: Sendable {
    var all = Counter<Label>()
    /// Grants that were dropped because their request was refused afterwards.
    var dropped = Counter<LoopMetrics.VerdictLabel>()

    struct Label: Equatable, Sendable {
        let provider: Int
        let operation: GrantOperation
        let code: String
    }

    /// - Parameter code: `ok`, or the problem's.
    mutating func count(_ provider: Int, _ operation: GrantOperation, code: String) {
        all.count(Label(provider: provider, operation: operation, code: code))
    }

    mutating func countDropped(_ provider: Int, code: String) {
        dropped.count(LoopMetrics.VerdictLabel(provider: provider, code: code))
    }

    static let counters = [
        CounterRow(
            "assay_grants_total",
            "Exchanges of codes, refreshes and revocations, by provider and outcome; ok, or the problem's code.",
            labels: ["provider", "operation", "code"], \.grants.all, of: .clients
        ) { label, ids in
            [ids[label.provider], label.operation.rawValue, label.code]
        },
        CounterRow(
            "assay_grants_dropped_total",
            "Grants dropped because the ID Token that came with them was refused, or the request failed.",
            labels: ["provider", "code"], \.grants.dropped, of: .clients
        ) { label, ids in
            [ids[label.provider], label.code]
        },
    ]
}
