internal import IDToken
internal import SignIns
internal import Verification

/// The counters of one event loop. They are plain variables of that loop, and are added up on demand.
struct LoopMetrics: Sendable {
    /// Verdicts by provider number (`nil` if none was found) and code; the code is `ok` for verified tokens.
    var verifications = Counter<VerdictLabel>()
    /// Responses by route and status.
    var requests = Counter<Answer>()
    /// Requests that were shed because their wait in the queue would have been too long.
    var refusedByQueue = 0
    /// Durations of `POST /v1/verify`.
    private(set) var verifyDurations = Histogram()

    /// Sign-ins begun by provider number.
    var signInsBegun = Counter<Int>()
    /// Attempts to finish one, as in ``verifications``.
    var signInsFinished = Counter<VerdictLabel>()
    /// Claims that were released, because nothing was sent to the provider or because it refused the code, by whether
    /// the release was confirmed.
    var claimReleases = Counter<Bool>()
    /// Claims of sign-ins and nonces.
    var claims = StoreMetrics()
    /// Claims of DPoP proofs.
    var proofClaims = StoreMetrics()
    /// Codes that were exchanged, and tokens that were refreshed or revoked.
    var grants = Counter<GrantLabel>()
    /// Grants that were dropped because their request was refused afterwards.
    var droppedGrants = Counter<VerdictLabel>()
    var notifications = Counter<NotificationLabel>()
    /// Access tokens by provider number and code, as in ``verifications``.
    var accessTokens = Counter<VerdictLabel>()
    /// Answers about opaque tokens by provider number, and whether they were known before the request.
    var introspections = Counter<IntrospectionLabel>()

    /// Decisions for gateways by policy and code; the code is `ok` for requests that may pass.
    var forwardAuth = Counter<PolicyLabel>()

    /// Requests by caller.
    private(set) var callers: [Caller: Int] = [:]

    /// A caller, by its name in the settings or in its certificate.
    enum Caller: Hashable {
        case apiKey(String, ListenerName)
        case certificate(String, ListenerName)
    }

    /// The maximum number of callers to distinguish. A CA may issue any number of certificates.
    private static let maximumCallers = 256

    struct VerdictLabel: Equatable {
        let provider: Int?
        let code: String
    }

    struct IntrospectionLabel: Equatable {
        let provider: Int?
        let isCached: Bool
    }

    struct PolicyLabel: Equatable {
        let policy: String
        let code: String
    }

    struct NotificationLabel: Equatable {
        let provider: Int?
        /// `nil` if the notification was refused.
        let kind: NotificationKind?
        let code: String
    }

    struct GrantLabel: Equatable {
        let provider: Int
        let operation: GrantOperation
        /// `ok`, or the problem's.
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

    /// Counts a caller's request. Callers beyond the maximum count as `other`.
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

    mutating func add(_ other: LoopMetrics) {
        for counter in Self.counters { counter.add(&self, other) }
        refusedByQueue += other.refusedByQueue
        verifyDurations.add(other.verifyDurations)
        claims.add(other.claims)
        proofClaims.add(other.proofClaims)
        callers.merge(other.callers, uniquingKeysWith: +)
    }

    /// Every counter with its metric. A counter that is not here is lost.
    static let counters: [CounterRow] =
        [
            CounterRow(
                "assay_http_requests_total", "Answered requests by route and status.", labels: ["route", "status"],
                \.requests
            ) { answer, _ in
                ["\(answer.route.pattern)", String(answer.status)]
            },
            CounterRow(
                "assay_verifications_total", "Tokens by provider and verdict; ok, or the problem's code.",
                labels: ["provider", "code"], \.verifications
            ) { verdict, ids in
                [ids[verdict.provider], verdict.code]
            },
            CounterRow(
                "assay_notifications_total",
                "Notifications by provider, kind and code: ok, or the problem's code with an empty kind.",
                labels: ["provider", "kind", "code"], \.notifications, of: .notifications
            ) { label, ids in
                [ids[label.provider], label.kind?.rawValue ?? "", label.code]
            },
            CounterRow(
                "assay_access_tokens_total", "Access tokens by provider and verdict; ok, or the problem's code.",
                labels: ["provider", "code"], \.accessTokens, of: .accessTokens
            ) { verdict, ids in
                [ids[verdict.provider], verdict.code]
            },
            CounterRow(
                "assay_introspections_total",
                "Opaque tokens by provider and source of the answer: provider, if a question was sent or shared; cache.",
                labels: ["provider", "source"], \.introspections, of: .accessTokens
            ) { label, ids in
                [ids[label.provider], label.isCached ? "cache" : "provider"]
            },
            CounterRow(
                "assay_forward_auth_total",
                "Decisions for gateways by policy and code; ok for requests that may pass.",
                labels: ["policy", "code"], \.forwardAuth, of: .forwardAuth
            ) { label, _ in
                [label.policy, label.code]
            },
            CounterRow(
                "assay_sign_ins_begun_total", "Sign-ins begun, by provider.", labels: ["provider"], \.signInsBegun,
                of: .signIns
            ) { provider, ids in
                [ids[provider]]
            },
            CounterRow(
                "assay_sign_ins_finished_total",
                "Attempts to finish a sign-in, by provider and outcome; ok, or the problem's code.",
                labels: ["provider", "code"], \.signInsFinished, of: .signIns
            ) { finish, ids in
                [ids[finish.provider], finish.code]
            },
            CounterRow(
                "assay_store_releases_total",
                "Claims released because nothing was sent to the provider, or because it refused the code as invalid, by outcome; a claim whose release is unconfirmed may still exist.",
                labels: ["outcome"], \.claimReleases, of: .signIns
            ) { isReleased, _ in
                [isReleased ? "released" : "unconfirmed"]
            },
            CounterRow(
                "assay_grants_total",
                "Exchanges of codes, refreshes and revocations, by provider and outcome; ok, or the problem's code.",
                labels: ["provider", "operation", "code"], \.grants, of: .clients
            ) { label, ids in
                [ids[label.provider], label.operation.rawValue, label.code]
            },
            CounterRow(
                "assay_grants_dropped_total",
                "Grants dropped because the ID Token that came with them was refused, or the request failed.",
                labels: ["provider", "code"], \.droppedGrants, of: .clients
            ) { label, ids in
                [ids[label.provider], label.code]
            },
        ]
}

/// A counter of every event loop as a metric.
struct CounterRow: Sendable {
    /// The feature without which the metric is absent.
    let feature: Feature?
    /// Adds another loop's count to the first one's.
    let add: @Sendable (inout LoopMetrics, LoopMetrics) -> Void
    let write: @Sendable (LoopMetrics, ProviderNames, inout PrometheusText) -> Void

    /// - Parameter values: those of a label, one for each name in `labels`.
    init<Label>(
        _ name: StaticString, _ help: StaticString, labels: [StaticString],
        _ path: any WritableKeyPath<LoopMetrics, Counter<Label>> & Sendable, of feature: Feature? = nil,
        values: @escaping @Sendable (Label, ProviderNames) -> [String]
    ) {
        self.feature = feature
        add = { $0[keyPath: path].add($1[keyPath: path]) }
        write = { metrics, names, text in
            text.metric(
                name, .counter, help, labels: labels,
                metrics[keyPath: path].map { PrometheusText.Sample(values($0, names), $1) })
        }
    }
}

/// The IDs of current and former providers, by number.
struct ProviderNames {
    let ids: [String]

    /// Empty if no provider was found.
    subscript(number: Int?) -> String { number.map { ids[$0] } ?? "" }
}

/// Counts by a label with few values, such as a response's status or a verdict's code.
///
/// Uses a linear search, which usually ends at the first entry. A dictionary hashed each request's label twice, which
/// cost as much as parsing a JOSE header.
struct Counter<Label: Equatable & Sendable>: Sendable {
    private var entries: [Entry] = []

    // Not a tuple: Swift looks up the metadata of a generic tuple at run time.
    private struct Entry {
        let label: Label
        var count: Int
    }

    mutating func count(_ label: Label) { add(1, to: label) }

    mutating func add(_ other: Counter) {
        for (label, count) in other { add(count, to: label) }
    }

    private mutating func add(_ count: Int, to label: Label) {
        for index in entries.indices where entries[index].label == label {
            entries[index].count += count
            return
        }
        entries.append(Entry(label: label, count: count))
    }
}

extension Counter: Sequence {
    func makeIterator() -> some IteratorProtocol<(label: Label, count: Int)> {
        entries.lazy.map { ($0.label, $0.count) }.makeIterator()
    }
}
