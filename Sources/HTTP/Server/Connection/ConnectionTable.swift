internal import NIOCore

/// A connection as seen by the table of its event loop.
protocol TimedConnection: AnyObject {
    /// The tick at which it times out.
    var deadline: Int { get }
    func deadlinePassed()
    /// The tick since which the client has read almost none of its unread responses; `.max` if there are none.
    var unreadSince: Int { get }
    var unreadBytes: Int { get }
    func checkUnread(isSecond: Bool)
    func countUnread()
    func abort()
    func close()
    func closeIfIdle()
}

/// The connections of one event loop, and the coarse clock of their timeouts. Confined to that loop.
///
/// One repeated task checks every connection four times a second: a timer for each request would cost more than parsing
/// it.
final class ConnectionTable {
    private var connections: [ObjectIdentifier: any TimedConnection] = [:]
    private(set) var tick = 0
    /// The value of the header field `Date`.
    private(set) var date: String
    private var dateSeconds: Int64
    private let unixSeconds: @Sendable () -> Int64

    private let counts: ListenerCounts
    private var reportedUnread = UnreadByAge()
    private static let ticksPerSecond = 4

    init(on loop: any EventLoop, counts: ListenerCounts, unixSeconds: @escaping @Sendable () -> Int64) {
        self.counts = counts
        self.unixSeconds = unixSeconds
        dateSeconds = unixSeconds()
        date = HTTPDate.text(unixSeconds: dateSeconds)
        let bound = NIOLoopBound(self, eventLoop: loop)
        let period = TimeAmount.milliseconds(1000 / Int64(Self.ticksPerSecond))
        loop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.advance() }
    }

    func insert(_ connection: any TimedConnection) { connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: any TimedConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// The first tick after a number of seconds has passed.
    func tick(inSeconds seconds: Int64) -> Int { tick + Int(seconds) * Self.ticksPerSecond + 1 }

    private func advance() {
        tick += 1
        let now = unixSeconds()
        if now != dateSeconds {
            dateSeconds = now
            date = HTTPDate.text(unixSeconds: now)
        }
        let isFullSecond = tick % Self.ticksPerSecond == 0
        for connection in connections.values {
            connection.checkUnread(isSecond: isFullSecond)
            if connection.deadline <= tick { connection.deadlinePassed() }
        }
        reportUnread()
        // Closing slow readers of this loop makes room for responses on all loops.
        closeSlowReaders(unreadSince: counts.holdsTooMuch ? tick - 2 : tick - Self.ticksPerSecond)
    }

    /// Reports to the other event loops how long this one's clients have left responses unread.
    private func reportUnread() {
        var unread = UnreadByAge()
        for connection in connections.values where connection.unreadSince != .max {
            unread.add(connection.unreadBytes, age: tick - connection.unreadSince)
        }
        guard unread != reportedUnread else { return }
        counts.reportUnread(unread, insteadOf: reportedUnread)
        reportedUnread = unread
    }

    /// Closes slow readers of this loop if too many bytes are unread. Below the hard limit, skips those that became
    /// slow in the last two ticks: they may be about to read a response that was just written.
    func makeRoom() {
        // Two ticks, because the latest one may have been a moment ago.
        if counts.holdsTooMuch { closeSlowReaders(unreadSince: tick - 2) }
        if counts.isOverHardLimit { closeSlowReaders(unreadSince: tick) }
    }

    /// Closes connections with unread responses until there is room, starting with the slowest. Even slower ones on
    /// other event loops are closed at those loops' next tick.
    ///
    /// - Parameter latest: connections that became slow after this tick are skipped.
    private func closeSlowReaders(unreadSince latest: Int) {
        guard counts.isNearlyFull() else { return }
        let all = counts.reportedUnread
        let slow = connections.values.filter { $0.unreadSince <= latest }
        for connection in slow.sorted(by: { $0.unreadSince < $1.unreadSince }) {
            // The client may have read since the last count.
            connection.countUnread()
            guard connection.unreadSince <= latest else { continue }
            let age = tick - connection.unreadSince
            let slower = all.total(olderThan: age) - reportedUnread.total(olderThan: age)
            guard counts.isNearlyFull(without: counts.isOverHardLimit ? 0 : slower) else { return }
            counts.slowReaderClosed()
            connection.abort()
        }
    }

    /// Closes idle connections.
    func closeIdle() {
        for connection in connections.values { connection.closeIfIdle() }
    }

    /// Closes every connection, even with a request in progress.
    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}
