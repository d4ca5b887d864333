private import Clocks
internal import NIOCore

/// The connections of one event loop, and the coarse clock by which they time out. Confined to that loop.
///
/// One repeated task looks at every connection four times a second: a timer for each request would cost more than the
/// request's parsing.
final class ConnectionTable {
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private(set) var tick = 0
    /// The value of the header field `Date`.
    private(set) var date: String
    private var dateSeconds: Int64
    private let unixSeconds: @Sendable () -> Int64

    private static let ticksPerSecond = 4

    init(on loop: any EventLoop, unixSeconds: @escaping @Sendable () -> Int64) {
        self.unixSeconds = unixSeconds
        dateSeconds = unixSeconds()
        date = HTTPDate.text(unixSeconds: dateSeconds)
        let bound = NIOLoopBound(self, eventLoop: loop)
        let period = TimeAmount.milliseconds(1000 / Int64(Self.ticksPerSecond))
        loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.advance() }
    }

    func insert(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: HTTPConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// The tick by which a number of seconds will have passed.
    func tick(inSeconds seconds: Int64) -> Int { tick + Int(seconds) * Self.ticksPerSecond + 1 }

    private func advance() {
        tick += 1
        let now = unixSeconds()
        if now != dateSeconds {
            dateSeconds = now
            date = HTTPDate.text(unixSeconds: now)
        }
        for connection in connections.values where connection.deadline <= tick { connection.deadlinePassed() }
    }

    /// Closes the connections on which nothing is under way.
    func closeIdle() {
        for connection in connections.values { connection.closeIfIdle() }
    }

    /// Closes every connection, whatever it is doing.
    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}
