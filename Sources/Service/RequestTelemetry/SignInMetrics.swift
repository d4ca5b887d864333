internal import SignIns
private import Verification

/// One event loop's counters for sign-ins.
struct SignInMetrics: Sendable {
    /// By provider number.
    var begun = Counter<Int>()
    /// By provider number (`nil` if unknown) and code; the code is `ok` for finished sign-ins.
    var finished = Counter<LoopMetrics.VerdictLabel>()
    /// Claims that were released, because nothing was sent to the provider or because it refused the code, by whether
    /// the release was confirmed.
    var releases = Counter<Bool>()

    mutating func countBegun(provider: Int) { begun.count(provider) }

    mutating func countFinished(provider: Int?, code: String) {
        finished.count(LoopMetrics.VerdictLabel(provider: provider, code: code))
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
            "assay_store_releases_total",
            "Claims released because nothing was sent to the provider, or because it refused the code as invalid, by outcome; a claim whose release is unconfirmed may still exist.",
            labels: ["outcome"], \.signIns.releases, of: .signIns
        ) { isReleased, _ in
            [isReleased ? "released" : "unconfirmed"]
        },
    ]
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
