internal import HTTP
internal import NIOCore

/// Detects whether an event loop is overloaded. Confined to that loop.
final class OverloadDetector {
    private let loop: any EventLoop
    private var shedder: LoadShedder
    private var task: RepeatedTask?
    private static let periodMicroseconds: Int64 = 100_000

    /// - Parameter queueTimeout: the maximum time that a request may wait in the queue.
    init(on loop: any EventLoop, queueTimeout: Interval) {
        self.loop = loop
        self.queueTimeout = queueTimeout
        shedder = LoadShedder(limit: queueTimeout.microseconds)
        let bound = NIOLoopBound(self, eventLoop: loop)
        let period = TimeAmount.microseconds(Self.periodMicroseconds)
        task = loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            bound.value.shedder.recordTick(at: SystemClocks.monotonicMicroseconds(), period: Self.periodMicroseconds)
        }
    }

    var queueTimeout: Interval { didSet { shedder.limit = queueTimeout.microseconds } }

    /// Whether to handle a request in this turn of the loop, or to shed it.
    ///
    /// - Parameter startedAtMicroseconds: when the request arrived, on the monotonic clock.
    func admits(at startedAtMicroseconds: Int64) -> Bool {
        guard shedder.isCrowded else { return true }
        switch shedder.admit(at: startedAtMicroseconds) {
        case .admitted: return true
        case .first:
            // Runs after all requests that arrived together with this one, so it marks the end of the turn.
            loop.assumeIsolated().execute { self.shedder.turnEnded() }
            return true
        case .refused: return false
        }
    }

    func end() { task?.cancel() }
}
