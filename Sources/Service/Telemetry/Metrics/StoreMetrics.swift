internal import SignIns

/// One event loop's counters of the claims in a store.
struct StoreMetrics: Sendable {
    private(set) var claims = Counter<Claim>()
    /// Response times of the store.
    private(set) var durations = Histogram()

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

    mutating func count(_ claim: ClaimStore.Made) {
        claims.count(Claim(claim.outcome))
        durations.record(microseconds: claim.time.upperBound - claim.time.lowerBound)
    }

    mutating func add(_ other: StoreMetrics) {
        claims.add(other.claims)
        durations.add(other.durations)
    }
}

/// The states of a store that the event loops see.
private struct StoreSummary {
    private let stores: [StoreStatus]

    /// - Parameter stores: one per event loop; `nil` for a loop without the store.
    /// - Returns: `nil` if no loop has it.
    init?(_ stores: [StoreStatus?]) {
        self.stores = stores.compactMap(\.self)
        if self.stores.isEmpty { return nil }
    }

    var isUp: Int { stores.allSatisfy { $0.health == .ok } ? 1 : 0 }

    var states: [PrometheusText.Sample] {
        let worst = stores.map(\.health).max()
        return StoreHealth.allCases.map { PrometheusText.Sample([$0.rawValue], $0 == worst ? 1 : 0) }
    }

    var fill: Double? { stores.compactMap(\.fill).max() }
    var entries: Int? { stores.compactMap(\.entries).max() }
}

extension StoreMetrics {
    fileprivate var outcomes: [PrometheusText.Sample] { claims.map { PrometheusText.Sample([$0.rawValue], $1) } }
}

extension MetricsPage {
    /// The store of sign-ins and nonces, if anything is single-use.
    func writeStore(to page: inout PrometheusText) {
        guard let store = StoreSummary(stores.map(\.signIns)) else { return }
        page.metric(
            "assay_store_claims_total", .counter,
            "Attempts to record a sign-in or nonce as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"], loops.claims.outcomes)
        page.metric("assay_store_claim_duration_seconds", .histogram, "Duration of claims in the store.")
        page.histogram("assay_store_claim_duration_seconds", loops.claims.durations)
        page.metric(
            "assay_store_up", .gauge, "1 if every event loop can use the store, else 0; assay_store_state says why.",
            store.isUp)
        page.metric(
            "assay_store_state", .gauge, "1 for the worst state that an event loop sees the store in, else 0.",
            labels: ["state"], store.states)
        if let fill = store.fill {
            page.metric(
                "assay_store_used_ratio", .gauge,
                "Share of the store's room in use: of sign_ins.store.entries, or of the server's maxmemory.", fill)
        }
        if let entries = store.entries {
            page.metric("assay_store_entries", .gauge, "Records in the memory store.", entries)
        }
    }

    /// The store of DPoP proofs, if they are remembered.
    func writeProofStore(to page: inout PrometheusText) {
        guard let store = StoreSummary(stores.map(\.proofs)) else { return }
        page.metric(
            "assay_proof_store_claims_total", .counter,
            "Attempts to record a DPoP proof as used, by outcome; unknown if the store did not reply in time.",
            labels: ["outcome"], loops.proofClaims.outcomes)
        page.metric("assay_proof_store_claim_duration_seconds", .histogram, "Duration of claims of DPoP proofs.")
        page.histogram("assay_proof_store_claim_duration_seconds", loops.proofClaims.durations)
        page.metric(
            "assay_proof_store_up", .gauge,
            "1 if every event loop can use the store of DPoP proofs, else 0; assay_proof_store_state says why.",
            store.isUp)
        page.metric(
            "assay_proof_store_state", .gauge,
            "1 for the worst state that an event loop sees the store of DPoP proofs in, else 0.",
            labels: ["state"], store.states)
        if let fill = store.fill {
            page.metric(
                "assay_proof_store_used_ratio", .gauge,
                "Share of the room for DPoP proofs in use: of dpop.store.entries, or of the server's maxmemory.", fill)
        }
        if let entries = store.entries {
            page.metric("assay_proof_store_entries", .gauge, "DPoP proofs in the memory store.", entries)
        }
    }
}

/// The stores that one event loop uses.
struct LoopStores: Sendable {
    /// `nil` if nothing is single-use.
    let signIns: StoreStatus?
    /// `nil` if DPoP proofs are not remembered.
    let proofs: StoreStatus?

    init(_ service: ServiceLoop) {
        signIns = service.claims?.status
        proofs = service.proofStore?.status
    }
}
