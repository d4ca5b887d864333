package import HTTP

/// Keys of a file, used while the provider has not delivered any.
extension KeyStore.StateMachine {
    /// The fallback's keys were read. They are used until the provider delivers keys, or they are read again.
    package mutating func fallbackSucceeded(_ keys: FetchedKeys, now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        isFallbackBroken = false
        guard needsFallback else { return [] }
        omitted.dropAll()
        confirmedUntil = nil
        answer = keys
        // They are stale from the start, because the provider has not delivered any keys. They are read again after
        // each failed fetch, and so at least once in the longest backoff.
        let current = makeSnapshot(
            keys, fetchedAt: now, freshUntil: now - Interval(milliseconds: 1),
            usableUntil: now + rules.maximumBackoff * 2)
        return finish(publish(current) + resumeWaitersForAnyKeys())
    }

    /// The fallback has no usable keys.
    package mutating func fallbackFailed(_ failure: FetchFailure, now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        defer { isFallbackBroken = true }
        return isFallbackBroken ? [] : [.report(.fallbackFailed(failure))]
    }

    /// Whether the fallback's keys would be better than none.
    var needsFallback: Bool {
        rules.hasFallback && (snapshot.map { $0.source == .file || !$0.isUsable(at: now) } ?? true)
    }
}
