internal import Bytes
internal import HTTP

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
