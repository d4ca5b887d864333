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
        let index = idle.lastIndex { $0.kept.origin == origin && !Self.isOver($0.kept, since: $0.since, now: now) }
        return index.map { idle.remove(at: $0).kept }
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
        now < since || now - since >= idleLimit || now - kept.openedAt >= ageLimit
    }
}
