package import HTTP

/// Keys that are fetched only for requests, as those of an entry's many issuers.
extension KeyStore.StateMachine {
    /// A fetch has failed, so keys that are fetched only for requests are used after their lifetime too.
    mutating func useExpiredKeys() -> [Effect] {
        guard rules.isLazy, let snapshot, let answer else { return [] }
        let end = snapshot.freshUntil + rules.staleIfError
        guard snapshot.usableUntil < end, now <= end else { return [] }
        let current = makeSnapshot(
            answer, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil, usableUntil: end)
        return publish(current) + resumeWaitersForAnyKeys()
    }

    /// The keys are in use, so a refresh that was left out is made up for.
    package mutating func used(now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        guard isRefreshOverdue, fetch == nil else { return [] }
        return finish(beginFetch(plannedMode))
    }

    /// The fetch that began to wait for its turn is not needed any more.
    package mutating func fetchAbandoned(now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        fetch = nil
        return finish([])
    }
}
