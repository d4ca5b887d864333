internal import Host
internal import HTTPServer
internal import NIOCore

/// Watches whether an event loop keeps up with its requests. Confined to that loop.
final class OverloadDetector {
    private let loop: any EventLoop
    private var shedder: LoadShedder
    private var task: RepeatedTask?
    private static let periodMicroseconds: Int64 = 100_000

    /// - Parameter queueTimeout: how long a request may wait for its turn.
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

    /// Whether a request is taken up in this turn of the loop, or is one too many for it.
    ///
    /// - Parameter startedAtMicroseconds: when the request came; monotonic.
    func admits(at startedAtMicroseconds: Int64) -> Bool {
        guard shedder.isCrowded else { return true }
        switch shedder.admit(at: startedAtMicroseconds) {
        case .admitted: return true
        case .first:
            // What is executed now, runs when all that came in with this request has been taken up.
            loop.assumeIsolated().execute { self.shedder.turnEnded() }
            return true
        case .refused: return false
        }
    }

    func end() { task?.cancel() }
}
