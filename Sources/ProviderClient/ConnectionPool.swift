internal import Host

/// Keeps idle connections for a short time, so that calls need no handshake of their own.
///
/// Pure: the owner closes the connections that it returns.
struct ConnectionPool<Connection: Sendable>: Sendable {
    /// A connection with what is known of it.
    struct Kept: Sendable {
        let connection: Connection
        let origin: Origin
        let openedAt: MonotonicTime
    }

    /// What a connection leads to.
    struct Origin: Hashable, Sendable {
        let isSecure: Bool
        let host: String
        let port: Int
    }

    /// Below the five seconds after which many servers close, so that a server seldom closes a connection just when a
    /// code is sent.
    static var idleLimit: Interval { .seconds(4) }
    /// Renews the vetted address and the trusted certificates.
    static var ageLimit: Interval { .seconds(60) }
    /// As many as a provider's calls have by default: answers that arrive together are followed by as many calls. With
    /// eight, two of three calls under load opened a connection.
    static var capacity: Int { 64 }

    /// In the order of their last use.
    private var idle: [(kept: Kept, since: MonotonicTime)] = []

    var isEmpty: Bool { idle.isEmpty }

    /// The connection that was used last; it is the caller's then. `nil` if there is none.
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
        return idle.count > Self.capacity ? [idle.removeFirst().kept.connection] : []
    }

    /// Removes connections whose time is over.
    mutating func removeExpired(now: MonotonicTime) -> [Connection] {
        let expired = idle.filter { Self.isOver($0.kept, since: $0.since, now: now) }
        idle.removeAll { Self.isOver($0.kept, since: $0.since, now: now) }
        return expired.map(\.kept.connection)
    }

    mutating func removeAll() -> [Connection] {
        defer { idle = [] }
        return idle.map(\.kept.connection)
    }

    /// A clock that goes back ends a connection's time too.
    private static func isOver(_ kept: Kept, since: MonotonicTime, now: MonotonicTime) -> Bool {
        now < since || now - since >= idleLimit || now - kept.openedAt >= ageLimit
    }
}
