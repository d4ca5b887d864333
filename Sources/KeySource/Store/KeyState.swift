package import Host

/// Whether a provider's keys can be used.
package enum KeyState: String, Sendable, CaseIterable {
    case ready
    /// Past their lifetime, but still used because the provider can't be reached.
    case stale
    case unavailable

    package init(_ snapshot: KeySnapshot?, at now: MonotonicTime) {
        guard let snapshot, snapshot.isUsable(at: now) else {
            self = .unavailable
            return
        }
        self = snapshot.isStale(at: now) ? .stale : .ready
    }
}
