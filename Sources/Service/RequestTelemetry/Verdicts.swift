internal import JSON
internal import ReplayStore
private import Telemetry

/// How many tokens got which verdict, and what became of sign-ins, since the process began: what the metrics count, for a person
/// to look at.
struct Verdicts: Sendable {
    private let counts: [Count]
    private let begun: [Count]
    private let finished: [Count]
    /// As the event loops see it; none: nothing is used once.
    private let stores: [StoreStatus]

    private struct Count: Sendable {
        /// `nil` where no provider was found.
        let provider: String?
        /// `ok`, or the problem's code.
        let code: String
        let count: Int
    }

    /// - Parameter providerIDs: by number.
    init(_ metrics: LoopMetrics, _ stores: [StoreStatus], _ providerIDs: [String]) {
        func counts(_ counter: Counter<LoopMetrics.VerdictLabel>) -> [Count] {
            counter.map { verdict, count in
                Count(provider: verdict.provider.map { providerIDs[$0] }, code: verdict.code, count: count)
            }
        }
        self.counts = counts(metrics.verifications)
        begun = metrics.signIns.begun.map { Count(provider: providerIDs[$0], code: "begun", count: $1) }
        finished = counts(metrics.signIns.finished)
        self.stores = stores
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.objects("verdicts", counts) { json, each in
                json.member("provider", each.provider)
                json.member("code", each.code)
                json.member("count", Int64(each.count))
            }
            guard let worst = stores.max(by: { $0.health.severity < $1.health.severity }) else { return }
            json.objects("sign_ins", begun + finished) { json, each in
                json.member("provider", each.provider)
                json.member("outcome", each.code)
                json.member("count", Int64(each.count))
            }
            json.object("store") { json in
                json.member("state", worst.health.rawValue)
                json.member("entries", stores.compactMap(\.entries).max().map(Int64.init))
            }
        }
    }
}

extension StoreHealth {
    /// Whatever is worse is greater.
    fileprivate var severity: Int {
        switch self {
        case .ok: 0
        case .full: 1
        case .unreachable: 2
        }
    }
}
