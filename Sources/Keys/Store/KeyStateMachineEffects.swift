package import HTTP
package import JOSE

/// What requests ask of a key store's state machine, and what it answers.
extension KeyStore.StateMachine {
    /// Why a request can't be decided with its snapshot.
    package enum FetchReason: Sendable, Equatable {
        /// There are no usable keys at all. A token that would be refused in any case does not cause a fetch, but
        /// waits for one in progress.
        case anyKeys(mayFetch: Bool)
        /// No key of the set has the token's `kid`.
        case key(String)
        /// The key with the token's `kid` did not make its signature: the provider may have replaced the key.
        case replacedKey(String)
        /// The token names no key, or needs an algorithm that was not listed: only newer keys can decide.
        case newerKeys
        /// An operator requests a fetch that starts no earlier than this request.
        ///
        /// - Parameter dropsOmitted: whether to drop at once the keys that it does not find.
        case refresh(dropsOmitted: Bool)

        package var isRefresh: Bool { if case .refresh = self { true } else { false } }

        /// The `kid` that the request needs, if the reason is a single key.
        package var keyID: String? {
            switch self {
            case .key(let keyID), .replacedKey(let keyID): keyID
            case .anyKeys, .newerKeys, .refresh: nil
            }
        }
    }

    /// How to continue a request that could not be decided with its snapshot.
    package enum Outcome: Sendable, Equatable {
        /// A fetch that started after the request has succeeded: a key that is still missing does not exist.
        case refreshed
        /// There are newer keys than those of the request, or a fetch that started before the request has ended:
        /// verify again, and wait again if necessary.
        case retry
        /// No fetch is allowed now, and the last one succeeded: the result with the current keys is final.
        case unchanged
        /// The last fetch, or the one that the request waited for, failed, so newer keys are not available. Wait at
        /// least this long before trying again.
        case unavailable(retryAfter: Interval)
    }

    package enum Effect: Sendable {
        case startFetch(FetchMode)
        /// Call ``fallbackSucceeded(_:now:)`` or ``fallbackFailed(_:now:)`` after reading it.
        case readFallback
        case publish(KeySnapshot)
        /// Write the keys to disk, including omitted ones, if there is a cache directory.
        case keep(FetchedKeys, omitted: [JWK], lifetime: Interval)
        case resume(WaiterID, Outcome)
        case report(KeyEvent)
        /// Call ``timerFired(now:)`` at this time. It replaces an earlier timer.
        case setTimer(MonotonicTime)
    }
}

/// Keys that are fetched only for requests, as those of an entry's many issuers.
extension KeyStore.StateMachine {
    /// A fetch has failed, so keys that are fetched only for requests are used after their lifetime too.
    mutating func useExpiredKeys() -> [Effect] {
        guard rules.isLazy, let snapshot else { return [] }
        let end = snapshot.freshUntil + rules.staleIfError
        guard snapshot.usableUntil < end, now <= end else { return [] }
        return publishAgain(usableUntil: end) + resumeWaitersForAnyKeys()
    }

    /// The keys are in use, so a refresh that was left out is made up for.
    package mutating func used(now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        guard isRefreshOverdue, fetch == nil else { return [] }
        return finish(beginFetch(plannedMode))
    }

    /// The fetch that began to wait for its turn is not needed any more.
    mutating func fetchAbandoned(now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        fetch = nil
        return finish([])
    }
}

/// Keys of a file, used while the provider has not delivered any.
extension KeyStore.StateMachine {
    /// The fallback's keys were read. They are used until the provider delivers keys, or they are read again.
    package mutating func fallbackSucceeded(_ keys: FetchedKeys, now time: MonotonicTime) -> [Effect] {
        advance(to: time)
        isFallbackBroken = false
        isReadingFallback = false
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
        isReadingFallback = false
        let report: [Effect] = isFallbackBroken ? [] : [.report(.fallbackFailed(failure))]
        return report + (fetch == nil ? resumeWaitersForAnyKeys(outcomeUntilNextFetch) : [])
    }

    /// Whether the fallback's keys would be better than none.
    var needsFallback: Bool {
        rules.hasFallback && (snapshot.map { $0.source == .file || !$0.isUsable(at: now) } ?? true)
    }
}
