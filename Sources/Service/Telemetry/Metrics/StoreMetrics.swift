internal import SignIns

/// One event loop's counters of the claims in a store.
struct StoreMetrics: Sendable {
    private(set) var claims = Counter<ClaimOutcome>()
    /// Response times of the store.
    private(set) var durations = Histogram()

    mutating func count(_ claim: ClaimStore.Made) {
        claims.count(claim.outcome)
        durations.record(microseconds: claim.time.upperBound - claim.time.lowerBound)
    }

    mutating func add(_ other: StoreMetrics) {
        claims.add(other.claims)
        durations.add(other.durations)
    }
}

/// The states of a store that the event loops see.
extension [StoreStatus] {
    fileprivate var isUp: Int { allSatisfy { $0.health == .ok } ? 1 : 0 }

    fileprivate var states: [PrometheusText.Sample] {
        let worst = map(\.health).max()
        return StoreHealth.allCases.map { PrometheusText.Sample([$0.rawValue], $0 == worst ? 1 : 0) }
    }

    fileprivate var fill: Double? { compactMap(\.fill).max() }
    fileprivate var entries: Int? { compactMap(\.entries).max() }
}

extension StoreMetrics {
    fileprivate var outcomes: [PrometheusText.Sample] { claims.map { PrometheusText.Sample([$0.name], $1) } }
}

extension ClaimOutcome {
    /// As the value of a label.
    fileprivate var name: String {
        switch self {
        case .claimed: "claimed"
        case .alreadyClaimed: "already_claimed"
        case .unavailable(mayBeClaimed: false): "unavailable"
        // The store did not answer in time.
        case .unavailable(mayBeClaimed: true): "unknown"
        }
    }
}

extension MetricsPage {
    /// The store of sign-ins and nonces, if anything is single-use.
    func writeStore(to page: inout PrometheusText) {
        guard !stores.isEmpty else { return }
        page.metric(
            "assay_store_claims_total", .counter,
            "Attempts to record a sign-in or nonce as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"], loops.claims.outcomes)
        page.metric("assay_store_claim_duration_seconds", .histogram, "Duration of claims in the store.")
        page.histogram("assay_store_claim_duration_seconds", loops.claims.durations)
        page.metric(
            "assay_store_up", .gauge, "1 if every event loop can use the store, else 0; assay_store_state says why.",
            stores.isUp)
        page.metric(
            "assay_store_state", .gauge, "1 for the worst state that an event loop sees the store in, else 0.",
            labels: ["state"], stores.states)
        if let fill = stores.fill {
            page.metric(
                "assay_store_used_ratio", .gauge,
                "Share of the store's room in use: of sign_ins.store.entries, or of the server's maxmemory.", fill)
        }
        if let entries = stores.entries {
            page.metric("assay_store_entries", .gauge, "Records in the memory store.", entries)
        }
    }

    /// The store of DPoP proofs, if they are remembered.
    func writeProofStore(to page: inout PrometheusText) {
        guard !proofStores.isEmpty else { return }
        page.metric(
            "assay_proof_store_claims_total", .counter,
            "Attempts to record a DPoP proof as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"], loops.proofClaims.outcomes)
        page.metric("assay_proof_store_claim_duration_seconds", .histogram, "Duration of claims of DPoP proofs.")
        page.histogram("assay_proof_store_claim_duration_seconds", loops.proofClaims.durations)
        page.metric(
            "assay_proof_store_up", .gauge,
            "1 if every event loop can use the store of DPoP proofs, else 0; assay_proof_store_state says why.",
            proofStores.isUp)
        page.metric(
            "assay_proof_store_state", .gauge,
            "1 for the worst state that an event loop sees the store of DPoP proofs in, else 0.",
            labels: ["state"], proofStores.states)
        if let fill = proofStores.fill {
            page.metric(
                "assay_proof_store_used_ratio", .gauge,
                "Share of the room for DPoP proofs in use: of dpop.store.entries, or of the server's maxmemory.", fill)
        }
        if let entries = proofStores.entries {
            page.metric("assay_proof_store_entries", .gauge, "DPoP proofs in the memory store.", entries)
        }
    }
}
