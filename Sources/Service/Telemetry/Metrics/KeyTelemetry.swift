private import Bytes
package import JOSE
package import Keys
private import Synchronization

/// Counts the events of key stores for metrics, logs changes, and keeps a history.
package final class KeyTelemetry: Sendable {
    private let log: Log
    private let unixSeconds: @Sendable () -> Int64
    private let counts = Mutex(Counts())
    private let histories = Mutex<[String: KeyHistory]>([:])

    package struct Counts {
        /// Fetches by provider and phase of failure; `nil` for successful ones.
        package var fetches: [Fetch: Int] = [:]
        /// Fetches caused by a token's unknown `kid`, bad signature or unlisted algorithm, by provider.
        package var tokenFetches: [String: Int] = [:]
        /// Fetches for these reasons that the budget did not allow, by provider.
        package var refusals: [String: Int] = [:]
    }

    package struct Fetch: Hashable {
        package let provider: String
        let failedPhase: FetchFailure.Phase?
    }

    /// - Parameter unixSeconds: the wall clock, for the history.
    package init(log: Log, unixSeconds: @escaping @Sendable () -> Int64) {
        self.log = log
        self.unixSeconds = unixSeconds
    }

    /// Records an event.
    ///
    /// - Parameter issuer: that of an entry with many; `nil`: the entry has one. Metrics count the events of all issuers
    ///   of an entry together. Of one issuer, only outages, their end and faults of the cache on disk are logged and
    ///   remembered: its other events would push these out.
    package func record(_ event: KeyEvent, provider: String, issuer: String? = nil) {
        let now = unixSeconds()
        histories.withLock { $0[provider, default: KeyHistory()].note(event, of: issuer, atUnixSeconds: now) }
        var keys: [(name: StaticString, value: Log.Value)] = [("provider", .text(provider))]
        if let issuer { keys.append(("issuer", .oneOfMany(issuer))) }
        switch event {
        case .fetched: count(provider, failedPhase: nil)
        case .tokenFetchBegan: counts.withLock { $0.tokenFetches[provider, default: 0] += 1 }
        case .tokenFetchRefused: counts.withLock { $0.refusals[provider, default: 0] += 1 }
        case .fetchFailed(let failure, let isFirst):
            count(provider, failedPhase: failure.phase)
            // One line for each outage, unless the level is `debug`.
            log.write(
                isFirst ? .warning : .debug, "keys can't be fetched",
                keys + [("phase", .text(failure.phase.rawValue)), ("reason", .text(failure.message))])
        case .recovered: log.write(issuer == nil ? .info : .debug, "keys can be fetched again", keys)
        case .archiveRefused(let reason):
            log.write(.warning, "cached keys rejected", keys + [("reason", .text(reason))])
        case .archiveFailed: log.write(.warning, "keys can't be cached on disk", keys)
        // The states and keys of one of many issuers.
        case _ where issuer != nil: return
        case .fallbackFailed(let failure):
            log.write(.warning, "fallback keys can't be read", keys + [("reason", .text(failure.message))])
        case .stateChanged(let state):
            log.write(
                state == .ready ? .info : .warning, "key state changed", keys + [("state", .text(state.rawValue))])
        case .keysChanged(let keyIDs):
            log.write(.info, "keys changed", keys + [("named_keys", .number(Int64(keyIDs.count)))])
        }
    }

    package var current: Counts { counts.withLock { $0 } }

    /// The recent events of a provider's keys.
    package func history(of provider: String) -> KeyHistory { histories.withLock { $0[provider] } ?? KeyHistory() }

    private func count(_ provider: String, failedPhase: FetchFailure.Phase?) {
        counts.withLock { $0.fetches[Fetch(provider: provider, failedPhase: failedPhase), default: 0] += 1 }
    }
}

/// The recent events of one provider's keys, for operators.
///
/// The size is bounded whatever the provider does: the number of entries, the `kid`s per entry, and their lengths.
/// Repeated events, such as successful fetches, share one entry with a count, so they push nothing out.
package struct KeyHistory: Sendable {
    static let maximumEntries = 100
    static let maximumKeyIDs = 20
    /// In Unicode scalars.
    static let maximumKeyIDLength = 128

    /// Oldest first.
    package private(set) var entries: [Entry] = []
    /// The `kid`s of the keys in use.
    private var keyIDs: [String] = []

    /// An event that occurred once or several times in a row.
    package struct Entry: Sendable, Equatable {
        package let event: Event
        /// `nil` unless it is about one of an entry's many issuers.
        package let issuer: String?
        /// Unix seconds of the first time.
        package let since: Int64
        /// Unix seconds of the last time.
        package var at: Int64
        package var count = 1
    }

    /// An event as operators see it.
    package struct Event: Sendable, Equatable {
        let name: String
        /// Of `keys_changed`: other keys were fetched or read from disk or a file, or an omitted key's grace period ended.
        var added: NamedKeys?
        var removed: NamedKeys?
        var state: KeyState?
        var phase: FetchFailure.Phase?
        var message: String?
    }

    /// The `kid`s of some keys, up to a maximum number.
    package struct NamedKeys: Sendable, Equatable {
        package let count: Int
        package let keyIDs: [String]

        init(_ all: [String]) {
            count = all.count
            keyIDs = all.prefix(maximumKeyIDs).map { String($0.unicodeScalars.prefix(maximumKeyIDLength)) }
        }
    }

    package init() {}

    /// Adds an entry for an event that operators look for.
    ///
    /// - Parameter issuer: that of an entry with many, of which only outages, their end and faults of the cache on disk
    ///   are noted.
    mutating func note(_ event: KeyEvent, of issuer: String? = nil, atUnixSeconds now: Int64) {
        switch event {
        case .fetched where issuer == nil: append(Event(name: "fetched"), now)
        case .recovered where issuer != nil: append(Event(name: "fetched"), of: issuer, now)
        case .fetchFailed(let failure, let isFirst) where isFirst || issuer == nil:
            append(
                Event(name: "fetch_failed", phase: failure.phase, message: failure.message), of: issuer, now)
        case .archiveRefused(let reason): append(Event(name: "archive_refused", message: reason), of: issuer, now)
        case .archiveFailed: append(Event(name: "archive_failed"), of: issuer, now)
        case _ where issuer != nil: break
        case .keysChanged(let current):
            let (added, removed) = (keys(of: current, notIn: keyIDs), keys(of: keyIDs, notIn: current))
            append(Event(name: "keys_changed", added: added, removed: removed), now)
            keyIDs = current
        case .stateChanged(let state): append(Event(name: "state_changed", state: state), now)
        case .fallbackFailed(let failure): append(Event(name: "fallback_failed", message: failure.message), now)
        // The next successful fetch shows a recovery, and events caused by arbitrary tokens must not push out the
        // others.
        case .fetched, .fetchFailed, .recovered, .tokenFetchBegan, .tokenFetchRefused: break
        }
    }

    private mutating func append(_ event: Event, of issuer: String? = nil, _ now: Int64) {
        if let last = entries.last, last.event == event, last.issuer == issuer {
            entries[entries.count - 1].at = now
            entries[entries.count - 1].count += 1
            return
        }
        if entries.count == Self.maximumEntries { entries.removeFirst() }
        entries.append(Entry(event: event, issuer: issuer, since: now, at: now))
    }

    private func keys(of some: [String], notIn others: [String]) -> NamedKeys {
        let others = Set(others.map(ExactString.init))
        return NamedKeys(some.filter { !others.contains(ExactString($0)) })
    }
}

extension KeyHistory.Entry {
    /// Writes the entry as a JSON object.
    package func write(to json: inout JSONWriter, provider: String) {
        json.object { json in
            json.member("provider", provider)
            if let issuer { json.member("issuer", issuer) }
            json.member("event", event.name)
            json.member("at", at)
            json.member("since", since)
            json.member("count", Int64(count))
            json.member("added", event.added)
            json.member("removed", event.removed)
            json.member("state", event.state?.rawValue)
            json.member("phase", event.phase?.rawValue)
            json.member("message", event.message)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ keys: KeyHistory.NamedKeys?) {
        guard let keys else { return member(name, nil as String?) }
        object(name) { json in
            json.member("count", Int64(keys.count))
            json.array("kids", keys.keyIDs)
        }
    }
}
