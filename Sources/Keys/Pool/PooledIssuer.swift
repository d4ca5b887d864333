internal import Bytes
package import HTTP
internal import NIOCore
private import Synchronization

/// An issuer whose keys are in use, or being fetched. Used on the pool's event loop only.
final class PooledIssuer: Sendable {
    let name: ExactString
    let store: KeyStore
    let uses: IssuerUses
    /// Completes when keys on disk, if any, have been read.
    let loaded: EventLoopFuture<Void>
    let state: NIOLoopBoundBox<State>

    struct State {
        /// The number of requests that wait for its keys.
        var waiting = 0
        var hasKeys = false
        /// Whether its first request has not yet reached the store, because the disk is read before.
        var isLoading = true
    }

    init(_ name: ExactString, _ store: KeyStore, _ uses: IssuerUses, loaded: EventLoopFuture<Void>) {
        self.name = name
        self.store = store
        self.uses = uses
        self.loaded = loaded
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: store.loop)
    }

    var hasKeys: Bool { state.value.hasKeys }

    var standing: IssuerRanking.Standing {
        IssuerRanking.Standing(arrivedAt: uses.arrivedAt, usedAt: uses.provenAt, isAwaited: state.value.waiting > 0)
    }
}

/// The event loops that have an issuer's keys, and when each last used them.
final class IssuerUses: Sendable {
    private let state: NIOLoopBoundBox<State>

    private struct State {
        var arrivedAt: MonotonicTime
        var readers: [(id: IssuerPool.ReaderID, use: IssuerUse)] = []
    }

    init(arrivedAt: MonotonicTime, on loop: any EventLoop) {
        state = NIOLoopBoundBox.makeBoxSendingValue(State(arrivedAt: arrivedAt), eventLoop: loop)
    }

    /// When its keys arrived; before that, when they were first needed.
    var arrivedAt: MonotonicTime {
        get { state.value.arrivedAt }
        set { state.value.arrivedAt = newValue }
    }

    var readers: [IssuerPool.ReaderID] { state.value.readers.map(\.id) }

    subscript(reader: IssuerPool.ReaderID) -> IssuerUse? { state.value.readers.first { $0.id == reader }?.use }

    /// - Returns: whether it is new.
    func add(_ reader: IssuerPool.ReaderID) -> Bool {
        guard self[reader] == nil else { return false }
        state.value.readers.append((reader, IssuerUse()))
        return true
    }

    /// When a signature last held on any loop; `nil` if none has.
    fileprivate var provenAt: MonotonicTime? { state.value.readers.compactMap(\.use.time).max() }

    var lastUse: MonotonicTime { max(provenAt ?? arrivedAt, arrivedAt) }
}

/// When an event loop last used an issuer's keys, and whether a signature has held under them there.
///
/// Each event loop has its own and is the only one that writes it; the pool reads all of them. So noting a use costs no
/// hop to another thread, and shares no memory with other loops.
package final class IssuerUse: Sendable {
    /// The time in milliseconds; 0 if no signature has held.
    private let latest = Atomic<Int64>(0)

    init() {}

    /// Notes that a signature has held.
    @inline(__always)
    package func note(at now: MonotonicTime) { latest.store(now.milliseconds, ordering: .relaxed) }

    /// When a signature last held; `nil` if none has.
    var time: MonotonicTime? {
        let milliseconds = latest.load(ordering: .relaxed)
        return milliseconds == 0 ? nil : MonotonicTime(milliseconds: milliseconds)
    }
}

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
    ///
    /// - Returns: their places among the standings.
    func idle(among standings: [Standing], now: MonotonicTime) -> [Int] {
        standings.indices.filter { index in
            let standing = standings[index]
            return !standing.isAwaited && now - (standing.usedAt ?? standing.arrivedAt) >= idleFor
        }
    }

    /// The issuers to drop, so that no more than the maximum stay.
    ///
    /// - Returns: their places among the standings.
    func surplus(among standings: [Standing], now: MonotonicTime) -> [Int] {
        guard standings.count > maximum else { return [] }
        var newcomers: [(number: Int, at: MonotonicTime)] = []
        var unproven: [(number: Int, at: MonotonicTime)] = []
        var proven: [(number: Int, at: MonotonicTime)] = []
        for (number, standing) in standings.enumerated() where !standing.isAwaited {
            if let usedAt = standing.usedAt {
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

/// Remembers the issuers whose keys could not be fetched, until the next attempt may be made.
///
/// Callers of an open entry can name any issuer, so the table is bounded. A failure is never evicted before its backoff
/// ends: otherwise a flood of names could make Assay ask the same server again and again. If no failure can be evicted,
/// the table is full, and no issuer that is not known is tried.
struct IssuerFailures {
    private let capacity: Int
    private var entries: [ExactString: Entry] = [:]
    /// Before this time, no entry can be evicted.
    private var fullUntil: MonotonicTime?

    struct Entry {
        let failure: FetchFailure
        /// How many fetches have failed in a row.
        let count: Int
        let atUnixSeconds: Int64
        /// When the next attempt may be made.
        let until: MonotonicTime
    }

    static let capacity = 10_000
    /// Evicting looks at every entry, so it happens at most this often.
    private static let minimumPause = Interval(milliseconds: 100)

    init(capacity: Int = Self.capacity) { self.capacity = capacity }

    var all: some Sequence<(issuer: String, entry: Entry)> { entries.lazy.map { ($0.key.string, $0.value) } }

    subscript(issuer: ExactString) -> Entry? { entries[issuer] }

    mutating func insert(_ entry: Entry, of issuer: ExactString, now: MonotonicTime) {
        guard entries[issuer] != nil || hasRoom(for: 1, now: now) else { return }
        entries[issuer] = entry
    }

    mutating func remove(_ issuer: ExactString) { entries[issuer] = nil }

    /// Removes the entries of other issuers.
    mutating func keep(where isKept: (String) -> Bool) {
        entries = entries.filter { isKept($0.key.string) }
        fullUntil = nil
    }

    /// Whether this number of failures could be added, after those whose backoff is over have been evicted.
    mutating func hasRoom(for number: Int, now: MonotonicTime) -> Bool {
        if entries.count + number <= capacity { return true }
        if let fullUntil, now < fullUntil { return false }
        entries = entries.filter { $0.value.until > now }
        let earliest = entries.values.lazy.map(\.until).min() ?? now
        fullUntil = max(earliest, now + Self.minimumPause)
        return entries.count + number <= capacity
    }
}

/// The state of an entry's issuers, for operators.
package struct IssuerPoolSummary: Sendable {
    /// The number of issuers by state, in the order of the states.
    package let counts: [(state: State, count: Int)]
    /// The first issuers whose last fetch failed, in the order of their names.
    package let failing: [(issuer: String, status: KeyStatus)]

    private static let maximumFailing = 100

    /// How an issuer of an entry with many can be. The names are members of an answer, which `openapi.yaml` lists.
    package enum State: String, Sendable, CaseIterable {
        case ready, stale
        /// It has no usable keys, and its last fetch failed.
        case unavailable
        /// Its keys are being fetched for the first time, or have expired unused.
        case waiting

        package init(_ status: KeyStatus) {
            switch KeyState(status.snapshot, at: status.now) {
            case .ready: self = .ready
            case .stale: self = .stale
            case .unavailable: self = status.lastFailure == nil ? .waiting : .unavailable
            }
        }
    }

    init(_ issuers: [(issuer: String, status: KeyStatus)]) {
        let states = issuers.map { State($0.status) }
        counts = State.allCases.map { state in (state, states.count { $0 == state }) }
        let failing = issuers.filter { $0.status.lastFailure != nil }
            .sorted { $0.issuer.utf8.lexicographicallyPrecedes($1.issuer.utf8) }
        self.failing = Array(failing.prefix(Self.maximumFailing))
    }
}

extension KeyStatus {
    /// The state of an issuer that has no keys.
    ///
    /// - Parameter entry: why; `nil` if nothing is known about the issuer.
    init(ofFailure entry: IssuerFailures.Entry?) {
        let now = SystemClocks.monotonic()
        self.init(
            snapshot: nil, lastFailure: entry?.failure, lastFailureAtUnixSeconds: entry?.atUnixSeconds,
            nextFetchIn: entry.map { max($0.until - now, .seconds(0)) }, now: now)
    }
}
