internal import Replay
private import Verification

/// One event loop's counters for sign-ins.
struct SignInMetrics: Sendable {
    /// By provider number.
    private(set) var begun = Counter<Int>()
    /// By provider number (`nil` if unknown) and code; the code is `ok` for finished sign-ins.
    private(set) var finished = Counter<LoopMetrics.VerdictLabel>()
    private(set) var claims = Counter<Claim>()
    /// Claims that were released, because nothing was sent to the provider or because it refused the code, by whether
    /// the release was confirmed.
    private(set) var releases = Counter<Bool>()
    /// Response times of the store.
    private(set) var claimDurations = Histogram()

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

    mutating func add(_ other: SignInMetrics) {
        begun.add(other.begun)
        finished.add(other.finished)
        claims.add(other.claims)
        releases.add(other.releases)
        claimDurations.add(other.claimDurations)
    }
}

extension MetricsPage {
    /// - Parameter stores: one per event loop; empty if nothing is single-use.
    func writeSignIns(to page: inout PrometheusText, _ stores: [StoreStatus]) {
        guard !stores.isEmpty else { return }
        let signIns = loops.signIns
        page.metric(
            "assay_sign_ins_begun_total", .counter, "Sign-ins begun, by provider.", labels: ["provider"],
            signIns.begun.map { provider, count in
                PrometheusText.Sample([providerIDs[provider]], count)
            })
        page.metric(
            "assay_sign_ins_finished_total", .counter,
            "Attempts to finish a sign-in, by provider and outcome; ok, or the problem's code.",
            labels: ["provider", "code"],
            signIns.finished.map { finish, count in
                let provider = finish.provider.map { providerIDs[$0] } ?? ""
                return PrometheusText.Sample([provider, finish.code], count)
            })
        page.metric(
            "assay_store_claims_total", .counter,
            "Attempts to record a sign-in or nonce as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"],
            signIns.claims.map { claim, count in PrometheusText.Sample([claim.rawValue], count) })
        page.metric(
            "assay_store_releases_total", .counter,
            "Claims released because nothing was sent to the provider, or because it refused the code as invalid, by outcome; a claim whose release is unconfirmed may still exist.",
            labels: ["outcome"],
            signIns.releases.map { isReleased, count in
                PrometheusText.Sample([isReleased ? "released" : "unconfirmed"], count)
            })
        page.metric(
            "assay_store_claim_duration_seconds", .histogram, "Duration of claims in the store.")
        page.histogram("assay_store_claim_duration_seconds", signIns.claimDurations)
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
            labels: ["provider", "operation", "code"],
            loops.grants.all.map { label, count in
                PrometheusText.Sample(
                    [
                        providerIDs[label.provider], label.operation.rawValue,
                        label.code,
                    ], count)
            })
        page.metric(
            "assay_grants_dropped_total", .counter,
            "Grants dropped because the ID Token that came with them was refused, or the request failed.",
            labels: ["provider", "code"],
            loops.grants.dropped.map { label, count in
                let provider = label.provider.map { providerIDs[$0] } ?? ""
                return PrometheusText.Sample([provider, label.code], count)
            })
    }
}
