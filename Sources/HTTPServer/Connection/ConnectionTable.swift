private import Host
internal import NIOCore

/// A connection as the table of its event loop sees it.
protocol TimedConnection: AnyObject {
    /// The tick at which patience ends.
    var deadline: Int { get }
    func deadlinePassed()
    /// Since which tick the client has read next to nothing of what counts as unread; `.max` where nothing does.
    var unreadSince: Int { get }
    var unreadBytes: Int { get }
    func checkUnread(isSecond: Bool)
    func countUnread()
    func abort()
    func close()
    func closeIfIdle()
}

/// The connections of one event loop, and the coarse clock by which they time out. Confined to that loop.
///
/// One repeated task looks at every connection four times a second: a timer for each request would cost more than the
/// request's parsing.
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

    /// The tick by which a number of seconds will have passed.
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
        // Slow readers of this loop make room for what comes on any.
        closeSlowReaders(unreadSince: counts.holdsTooMuch ? tick - 2 : tick - Self.ticksPerSecond)
    }

    /// Tells the other event loops how long this one's clients have left their responses unread.
    private func reportUnread() {
        var unread = UnreadByAge()
        for connection in connections.values where connection.unreadSince != .max {
            unread.add(connection.unreadBytes, age: tick - connection.unreadSince)
        }
        guard unread != reportedUnread else { return }
        counts.reportUnread(unread, insteadOf: reportedUnread)
        reportedUnread = unread
    }

    /// Closes slow readers of this loop if too much is held: those first that it has seen before. Others may only be about
    /// to read what has just been written for them.
    func makeRoom() {
        // The tick before this one may have ended a moment ago.
        if counts.holdsTooMuch { closeSlowReaders(unreadSince: tick - 2) }
        if counts.holdsFarTooMuch { closeSlowReaders(unreadSince: tick) }
    }

    /// Closes connections whose clients leave their responses unread, until there is some room: those first that have
    /// done so for longest. Slower ones of other event loops are closed at those loops' next tick.
    ///
    /// - Parameter latest: the tick since when their responses must have been unread.
    private func closeSlowReaders(unreadSince latest: Int) {
        guard counts.isNearlyFull() else { return }
        let all = counts.reportedUnread
        let slow = connections.values.filter { $0.unreadSince <= latest }
        for connection in slow.sorted(by: { $0.unreadSince < $1.unreadSince }) {
            // It may have been read since it was counted.
            connection.countUnread()
            guard connection.unreadSince <= latest else { continue }
            let age = tick - connection.unreadSince
            let slower = all.total(olderThan: age) - reportedUnread.total(olderThan: age)
            guard counts.isNearlyFull(without: counts.holdsFarTooMuch ? 0 : slower) else { return }
            counts.slowReaderClosed()
            connection.abort()
        }
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
