internal import Telemetry
/// What one event loop counts. Plain variables of that loop; they are summed up when somebody asks.
struct LoopMetrics: Sendable {
    /// Verdicts by the provider's number, `nil` where none was found, and code; `ok` where the token verified.
    private(set) var verifications = Counter<VerdictLabel>()
    /// Answers by route and status.
    private(set) var requests = Counter<Answer>()
    /// Requests that would have waited too long for their turn.
    private(set) var refusedByQueue = 0
    /// Durations of `POST /v1/verify`.
    private(set) var verifyDurations = Histogram()

    var signIns = SignInMetrics()

    /// Requests by who called.
    private(set) var callers: [Caller: Int] = [:]

    /// Who called, by a name of the settings or of an authority's.
    enum Caller: Hashable {
        case apiKey(String, ListenerName)
        case certificate(String, ListenerName)
    }

    /// So many callers are told apart; an authority may issue certificates without end.
    private static let maximumCallers = 256

    struct VerdictLabel: Equatable {
        let provider: Int?
        let code: String
    }

    struct Answer: Equatable {
        let route: Route
        let status: UInt
    }

    init() {}

    init(sumOf parts: [LoopMetrics]) { for part in parts { add(part) } }

    mutating func countVerification(provider: Int?, code: String) {
        verifications.count(VerdictLabel(provider: provider, code: code))
    }

    mutating func countRequest(_ route: Route, status: UInt, microseconds: Int64) {
        requests.count(Answer(route: route, status: status))
        if route == .verify { verifyDurations.record(microseconds: microseconds) }
    }

    /// Counts a request of a caller; one for whom there is no room counts as `other`.
    mutating func countCaller(_ caller: Caller) {
        guard callers[caller] == nil, callers.count >= Self.maximumCallers else {
            callers[caller, default: 0] += 1
            return
        }
        switch caller {
        case .apiKey(_, let listener): callers[.apiKey("other", listener), default: 0] += 1
        case .certificate(_, let listener): callers[.certificate("other", listener), default: 0] += 1
        }
    }

    mutating func countRefusalByQueue() { refusedByQueue += 1 }

    mutating func add(_ other: LoopMetrics) {
        verifications.add(other.verifications)
        requests.add(other.requests)
        refusedByQueue += other.refusedByQueue
        verifyDurations.add(other.verifyDurations)
        signIns.add(other.signIns)
        callers.merge(other.callers, uniquingKeysWith: +)
    }
}
