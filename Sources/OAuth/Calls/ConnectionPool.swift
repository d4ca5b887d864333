private import Bytes
internal import HTTP
private import Synchronization

/// Keeps idle connections for a short time, so that not every call needs a handshake.
///
/// Pure: the owner closes the connections that it returns.
struct ConnectionPool<Connection: Sendable>: Sendable {
    /// A connection, its origin and its age.
    struct Kept: Sendable {
        let connection: Connection
        let origin: Origin
        let openedAt: MonotonicTime
    }

    /// Where a connection leads, and for whom.
    struct Origin: Hashable, Sendable {
        /// For an entry with `issuers: any`: an issuer's requests share no connection with another's, even at one host.
        var issuer: String?
        /// That the connection presents.
        var certificate: TLSIdentity?
        let isSecure: Bool
        let host: String
        let port: Int
    }

    /// Below the five seconds after which many servers close, so that a server rarely closes a connection just when a
    /// code is sent.
    static var idleLimit: Interval { .seconds(4) }
    /// Limits how long a vetted address and the trusted certificates stay in use.
    static var ageLimit: Interval { .seconds(60) }
    /// With 8 for the 64 calls of a busy provider, two out of three calls opened a new connection.
    let capacity: Int

    /// In the order of their last use.
    private var idle: [(kept: Kept, since: MonotonicTime)] = []

    init(capacity: Int) { self.capacity = capacity }

    var isEmpty: Bool { idle.isEmpty }

    /// Removes and returns the connection that was used last; `nil` if there is none.
    mutating func take(_ origin: Origin, now: MonotonicTime) -> Kept? {
        for index in idle.indices.reversed() {
            // All before it have been idle for longer.
            guard !Self.isIdleTooLong(since: idle[index].since, now: now) else { return nil }
            if idle[index].kept.origin == origin, !Self.isTooOld(idle[index].kept, now: now) {
                return idle.remove(at: index).kept
            }
        }
        return nil
    }

    /// Keeps a connection.
    ///
    /// - Returns: connections to close instead.
    mutating func put(_ kept: Kept, now: MonotonicTime) -> [Connection] {
        guard !Self.isOver(kept, since: now, now: now) else { return [kept.connection] }
        idle.append((kept, now))
        return idle.count > capacity ? [idle.removeFirst().kept.connection] : []
    }

    /// Removes connections that have expired.
    mutating func removeExpired(now: MonotonicTime) -> [Connection] {
        let expired = idle.filter { Self.isOver($0.kept, since: $0.since, now: now) }
        idle.removeAll { Self.isOver($0.kept, since: $0.since, now: now) }
        return expired.map(\.kept.connection)
    }

    mutating func removeAll() -> [Connection] {
        defer { idle = [] }
        return idle.map(\.kept.connection)
    }

    /// If the clock goes back, the connection has expired too.
    private static func isOver(_ kept: Kept, since: MonotonicTime, now: MonotonicTime) -> Bool {
        isIdleTooLong(since: since, now: now) || isTooOld(kept, now: now)
    }

    private static func isIdleTooLong(since: MonotonicTime, now: MonotonicTime) -> Bool {
        now < since || now - since >= idleLimit
    }

    private static func isTooOld(_ kept: Kept, now: MonotonicTime) -> Bool { now - kept.openedAt >= ageLimit }
}

/// Limits the calls in flight to one provider. Any thread may use it.
package final class CallSlots: Sendable {
    private let taken = Atomic(0)
    private let limit: Atomic<Int>
    private let refused = Atomic(0)
    /// The calls in flight by issuer, of those with any.
    private let byIssuer = Mutex<[ExactString: Int]>([:])

    /// The default of `max_calls` for an entry with `issuers: any`, and how many of them may be one issuer's: a provider
    /// that hangs leaves the others most.
    package static let limitOfOpenEntry = 256
    static let limitOfIssuer = 8
    /// The maximum of idle connections of such an entry.
    package static let keptConnectionsOfOpenEntry = 64

    package init(limit: Int) { self.limit = Atomic(limit) }

    /// Reserves a slot, which is released with its last reference; `nil` if all are taken.
    ///
    /// - Parameter issuer: `nil` for an entry with one issuer.
    package func reserve(for issuer: String? = nil) -> CallSlot? {
        let issuer = issuer.map(ExactString.init)
        guard taken.add(1, ordering: .relaxed).newValue <= limit.load(ordering: .relaxed), enter(issuer) else {
            taken.subtract(1, ordering: .relaxed)
            refused.add(1, ordering: .relaxed)
            return nil
        }
        return CallSlot(of: self, issuer)
    }

    private func enter(_ issuer: ExactString?) -> Bool {
        guard let issuer else { return true }
        return byIssuer.withLock { calls in
            let count = calls[issuer, default: 0]
            guard count < Self.limitOfIssuer else { return false }
            calls[issuer] = count + 1
            return true
        }
    }

    /// Changes the limit. Calls in flight beyond it continue.
    package func change(limit new: Int) { limit.store(new, ordering: .relaxed) }

    package var inFlight: Int { taken.load(ordering: .relaxed) }
    /// How often no slot was free.
    package var fullCount: Int { refused.load(ordering: .relaxed) }

    fileprivate func giveBack(_ issuer: ExactString?) {
        taken.subtract(1, ordering: .relaxed)
        guard let issuer else { return }
        byIssuer.withLock { calls in
            let count = calls[issuer, default: 1]
            calls[issuer] = count > 1 ? count - 1 : nil
        }
    }
}

/// One of a provider's ``CallSlots``.
package final class CallSlot: Sendable {
    private let slots: CallSlots
    private let issuer: ExactString?

    fileprivate init(of slots: CallSlots, _ issuer: ExactString?) {
        self.slots = slots
        self.issuer = issuer
    }

    deinit { slots.giveBack(issuer) }
}
