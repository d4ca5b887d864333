private import Bytes
internal import HTTP

/// The state of an entry's issuers, for operators.
package struct IssuerPoolSummary: Sendable {
    package private(set) var ready = 0
    package private(set) var stale = 0
    /// Issuers without usable keys, whose last fetch failed.
    package private(set) var unavailable = 0
    /// Issuers whose keys are being fetched for the first time, or have expired unused.
    package private(set) var waiting = 0
    /// The first issuers whose last fetch failed, in the order of their names.
    package private(set) var failing: [(issuer: String, status: KeyStatus)] = []

    package static let maximumFailing = 100

    /// How an issuer of an entry with many can be.
    package enum State: String, Sendable, CaseIterable {
        case ready, stale, unavailable
        /// Its keys are being fetched for the first time, or have expired unused.
        case waiting
    }

    /// The number of issuers by state.
    package var counts: [(state: State, count: Int)] {
        [(.ready, ready), (.stale, stale), (.unavailable, unavailable), (.waiting, waiting)]
    }

    package init() {}

    mutating func count(_ store: KeyStore, of issuer: String, at now: MonotonicTime) {
        let status = store.currentStatus
        if status.lastFailure != nil { failing.append((issuer, status)) }
        switch KeyState(status.snapshot, at: now) {
        case .ready: ready += 1
        case .stale: stale += 1
        case .unavailable: if status.lastFailure == nil { waiting += 1 } else { unavailable += 1 }
        }
    }

    mutating func count(_ entry: IssuerFailures.Entry, of issuer: String) {
        unavailable += 1
        failing.append((issuer, KeyStatus(ofFailure: entry)))
    }

    mutating func finish() {
        failing.sort { $0.issuer.utf8.lexicographicallyPrecedes($1.issuer.utf8) }
        failing = Array(failing.prefix(Self.maximumFailing))
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
