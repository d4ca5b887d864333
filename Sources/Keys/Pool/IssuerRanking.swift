internal import HTTP

/// Decides which issuers of an entry lose their keys, because others need the room or because they are not used.
///
/// First those under which no signature ever held: they may be names that someone invented. Then the one that was used
/// longest ago. An issuer that has just arrived gets a moment to prove itself, and takes no proven issuer's place until
/// then.
struct IssuerRanking {
    /// What is known about an issuer with keys.
    struct Standing {
        let arrivedAt: MonotonicTime
        /// When a signature last held; `nil` if none has.
        let usedAt: MonotonicTime?
        /// Whether requests wait for its keys.
        let isAwaited: Bool
    }

    var maximum: Int
    var idleFor: Interval

    /// How long an issuer has to prove itself.
    static let probation = Interval.seconds(2)
    /// How many issuers may be on probation beyond the maximum.
    static let maximumNewcomers = 512

    /// The issuers that have not been used for so long that they are dropped.
    func idle(among standings: some Sequence<(Int, Standing)>, now: MonotonicTime) -> [Int] {
        standings.filter { !$1.isAwaited && now - ($1.usedAt ?? $1.arrivedAt) >= idleFor }.map(\.0)
    }

    /// The issuers to drop, so that no more than the maximum stay.
    func surplus(among standings: some Collection<(Int, Standing)>, now: MonotonicTime) -> [Int] {
        guard standings.count > maximum else { return [] }
        var newcomers: [(number: Int, at: MonotonicTime)] = []
        var unproven: [(number: Int, at: MonotonicTime)] = []
        var proven: [(number: Int, at: MonotonicTime)] = []
        var awaited = 0
        for (number, standing) in standings {
            if standing.isAwaited {
                awaited += 1
            } else if let usedAt = standing.usedAt {
                proven.append((number, usedAt))
            } else if now - standing.arrivedAt < Self.probation {
                newcomers.append((number, standing.arrivedAt))
            } else {
                unproven.append((number, standing.arrivedAt))
            }
        }
        newcomers.sort { $0.at < $1.at }
        let extra = max(newcomers.count - Self.maximumNewcomers, 0)
        unproven += newcomers.prefix(extra)
        // Newcomers and awaited issuers don't count until they are proven or their time is over.
        let excess = proven.count + unproven.count - maximum
        guard excess > 0 else { return [] }
        unproven.sort { $0.at < $1.at }
        proven.sort { $0.at < $1.at }
        return (unproven + proven).prefix(excess).map(\.number)
    }
}
