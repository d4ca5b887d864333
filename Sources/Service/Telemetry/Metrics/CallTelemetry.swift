package import HTTP
package import OAuth
private import Synchronization

/// Counts the calls to providers' endpoints for metrics, and logs outages and rejected clients.
package final class CallTelemetry: Sendable {
    private let log: Log
    private let monotonic: @Sendable () -> MonotonicTime
    private let state = Mutex(State())

    package struct Counts: Sendable {
        package var calls: [Call: Int] = [:]
        package var connections: [Connection: Int] = [:]
        /// Durations of calls by endpoint.
        var durations: [CallEndpoint: Histogram] = [:]
    }

    package struct Call: Hashable, Sendable {
        package let provider: String
        package let endpoint: CallEndpoint
        package let outcome: CallOutcome
    }

    package struct Connection: Hashable, Sendable {
        package let provider: String
        package let use: CallReport.ConnectionUse
    }

    fileprivate struct State {
        var counts = Counts()
        /// Endpoints whose last call failed, and the causes that have been logged since the last call that did not.
        var failing: [Endpoint: Set<Cause>] = [:]
        /// When a client's rejection was last logged; removed once the client is accepted again.
        var rejections: [Client: MonotonicTime] = [:]
    }

    fileprivate struct Endpoint: Hashable {
        let provider: String
        let endpoint: CallEndpoint
    }

    fileprivate struct Cause: Hashable {
        let outcome: CallOutcome
        let reason: String?
    }

    fileprivate struct Client: Hashable {
        let provider, id: String
    }

    /// Up to 10 s, the longest sensible `limits.provider_timeout`.
    fileprivate static let durationBounds: [Int64] = [
        5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ]
    fileprivate static let maximumCauses = 16
    fileprivate static let rejectionPeriod = Interval.seconds(600)

    package init(log: Log, monotonic: @escaping @Sendable () -> MonotonicTime) {
        self.log = log
        self.monotonic = monotonic
    }

    package var current: Counts { state.withLock(\.counts) }

    /// Records a request to a provider.
    package func record(_ call: CallReport, provider: String) {
        let now = monotonic()
        let (failsForNewCause, hasRecovered, tellsOfRejection) = state.withLock { state in
            state.counts.count(call, provider)
            // One customer's provider that fails is no outage, and the backend learns of it from the answer.
            guard let client = call.clientID.map({ CallTelemetry.Client(provider: provider, id: $0) }) else {
                return (false, false, false)
            }
            let endpoint = Endpoint(provider: provider, endpoint: call.endpoint)
            let hasFailed = call.outcome.isOutage
            let failsForNewCause = hasFailed && state.addCause(of: call, endpoint)
            let hasRecovered = !hasFailed && state.failing.removeValue(forKey: endpoint) != nil
            return (failsForNewCause, hasRecovered, state.tellsOfRejection(call, by: client, now))
        }
        if failsForNewCause {
            var fields: [(name: StaticString, value: Log.Value)] = [
                ("provider", .text(provider)), ("endpoint", .text(call.endpoint.rawValue)),
                ("outcome", .text(call.outcome.rawValue)),
            ]
            if let status = call.status { fields.append(("status", .number(Int64(status)))) }
            if let reason = call.reason { fields.append(("reason", .text(reason))) }
            if let text = call.providerDescription { fields.append(("provider_description", .text(text))) }
            log.write(.warning, "provider calls fail", fields)
        } else if hasRecovered {
            log.write(
                .info, "provider calls succeed again",
                [("provider", .text(provider)), ("endpoint", .text(call.endpoint.rawValue))])
        }
        if tellsOfRejection, case .clientRejected(let error) = call.failure, let client = call.clientID {
            var fields: [(name: StaticString, value: Log.Value)] = [
                ("provider", .text(provider)), ("client", .text(client)),
                ("provider_error", .text(error.rawValue)),
            ]
            if let text = call.providerDescription { fields.append(("provider_description", .text(text))) }
            log.write(.error, "provider rejects the client", fields)
        }
    }
}

extension CallTelemetry.Counts {
    fileprivate mutating func count(_ call: CallReport, _ provider: String) {
        calls[.init(provider: provider, endpoint: call.endpoint, outcome: call.outcome), default: 0] += 1
        connections[.init(provider: provider, use: call.connection), default: 0] += 1
        durations[call.endpoint, default: Histogram(bounds: CallTelemetry.durationBounds)]
            .record(microseconds: Int64(call.nanoseconds / 1000))
    }
}

extension CallTelemetry.State {
    /// Each cause is logged once until a call succeeds, since an outage may hide another fault.
    ///
    /// - Returns: whether it is new.
    fileprivate mutating func addCause(of call: CallReport, _ endpoint: CallTelemetry.Endpoint) -> Bool {
        var causes = failing[endpoint] ?? []
        guard causes.count < CallTelemetry.maximumCauses else { return false }
        let isNew = causes.insert(CallTelemetry.Cause(outcome: call.outcome, reason: call.reason)).inserted
        failing[endpoint] = causes
        return isNew
    }

    /// The first rejection is logged, then one every ten minutes.
    fileprivate mutating func tellsOfRejection(
        _ call: CallReport, by client: CallTelemetry.Client, _ now: MonotonicTime
    ) -> Bool {
        switch call.outcome {
        case .clientRejected:
            if let last = rejections[client], now - last < CallTelemetry.rejectionPeriod { return false }
            rejections[client] = now
            return true
        case .ok, .grantInvalid, .providerRefused:
            rejections[client] = nil
            return false
        case .answerInvalid, .timeout, .unreachable, .unavailable: return false
        }
    }
}

extension CallOutcome {
    /// Whether the provider itself is unavailable, independent of user and client.
    fileprivate var isOutage: Bool {
        switch self {
        case .ok, .grantInvalid, .clientRejected, .providerRefused: false
        case .answerInvalid, .timeout, .unreachable, .unavailable: true
        }
    }
}
