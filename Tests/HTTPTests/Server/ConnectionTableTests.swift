@testable import HTTP
import NIOCore
import NIOEmbedded
import Testing

/// Which slow readers are closed to free memory.
@Suite struct ConnectionTableTests {
    /// A connection whose client reads nothing.
    private final class SlowReader: TimedConnection {
        private var account: ConnectionQuota
        private(set) var unreadSince: Int
        private(set) var isOpen = true
        var unreadBytes: Int { account.unreadBytes }
        let deadline = Int.max

        init(_ table: ConnectionTable, _ counts: ListenerCounts, unread: Int) {
            account = ConnectionQuota(counts)
            unreadSince = table.tick
            account.holdUnread(unread)
            table.insert(self)
        }

        func abort() {
            account.holdUnread(0)
            (unreadSince, isOpen) = (.max, false)
        }

        func deadlinePassed() {}
        func checkUnread(isSecond: Bool) {}
        func countUnread() {}
        func close() {}
        func closeIfIdle() {}
    }

    private let counts: ListenerCounts
    private let loops = [EmbeddedEventLoop(), EmbeddedEventLoop()]
    private let tables: [ConnectionTable]

    init() {
        var limits = ListenerLimits()
        limits.maximumBuffered = 2000
        let counts = ListenerCounts(limits: limits)
        self.counts = counts
        tables = loops.map { ConnectionTable(on: $0, counts: counts, unixSeconds: { 0 }) }
    }

    private func tick(_ loop: Int, times: Int = 1) {
        for _ in 0..<times { loops[loop].advanceTime(by: .milliseconds(250)) }
    }

    @Test func `the slowest go first, until there is some room`() {
        let readers = [500, 100, 400].map { bytes in
            defer { tick(0) }
            return SlowReader(tables[0], counts, unread: bytes)
        }
        #expect(readers.allSatisfy { $0.isOpen })
        let last = SlowReader(tables[0], counts, unread: 100)
        tables[0].makeRoom()
        #expect(readers.map(\.isOpen) == [false, true, true])
        #expect(last.isOpen)
    }

    @Test func `a client is not closed where another event loop has slower ones`() {
        let slower = [300, 250].map { bytes in
            defer { tick(0, times: 3) }
            return SlowReader(tables[0], counts, unread: bytes)
        }
        tick(0, times: 3)
        let client = SlowReader(tables[1], counts, unread: 100)
        let more = SlowReader(tables[0], counts, unread: 500)
        tick(1, times: 3)
        #expect(counts.holdsTooMuch)
        #expect(client.isOpen)
        tick(0)
        #expect(slower.map(\.isOpen) == [false, true])
        #expect(client.isOpen && more.isOpen)
    }

    @Test func `a client is closed where it is the slowest of all event loops`() {
        let client = SlowReader(tables[1], counts, unread: 100)
        tick(1, times: 3)
        let others = [500, 500].map { SlowReader(tables[0], counts, unread: $0) }
        tick(0)
        #expect(others.allSatisfy { $0.isOpen })
        tick(1)
        #expect(!client.isOpen)
    }

    @Test func `a client gets two ticks beyond the limit, and a second near it`() {
        let client = SlowReader(tables[0], counts, unread: 1100)
        tick(0)
        #expect(client.isOpen)
        tick(0)
        #expect(!client.isOpen)
        let other = SlowReader(tables[0], counts, unread: 950)
        tick(0, times: 3)
        #expect(other.isOpen)
        tick(0)
        #expect(!other.isOpen)
    }

    @Test func `far beyond the limit, an event loop closes its own and does not wait for others`() {
        let slower = SlowReader(tables[0], counts, unread: 1200)
        tick(0)
        let client = SlowReader(tables[1], counts, unread: 100)
        tables[1].makeRoom()
        #expect(!client.isOpen && slower.isOpen)
    }
}
