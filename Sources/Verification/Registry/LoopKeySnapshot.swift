package import HTTP
package import JOSE
package import Keys
private import OAuth

/// One event loop's latest copy of a provider's keys. Confined to that loop.
///
/// It is separate from the settings, because the keys survive a change of the settings.
package final class LoopKeySnapshot {
    private(set) var latest: Latest?
    /// The endpoints in the provider's latest discovery document; `nil` before the first one has been read.
    package private(set) var endpoints: DiscoveredEndpoints?

    package init() {}

    /// - Parameter sharesKeys: whether the loop uses the same objects as others, which saves memory where there are
    ///   thousands of key sets.
    package func install(_ snapshot: KeySnapshot, sharesKeys: Bool = false) {
        latest = Latest(snapshot, sharesKeys: sharesKeys)
        // Keys from the disk or from a file come without endpoints.
        if let found = snapshot.endpoints { endpoints = found }
    }

    package var snapshot: KeySnapshot? { latest?.snapshot }

    final class Latest {
        let snapshot: KeySnapshot
        /// The snapshot's keys.
        let keys: JWKSet
        let algorithms: SignatureAlgorithms
        let usableUntil: MonotonicTime

        init(_ snapshot: KeySnapshot, sharesKeys: Bool) {
            self.snapshot = snapshot
            keys = sharesKeys ? snapshot.keys : snapshot.keys.copied()
            algorithms = snapshot.algorithms
            usableUntil = snapshot.usableUntil
        }

        func used(at now: MonotonicTime) -> KeysUsed {
            KeysUsed(snapshot.source, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil, now: now)
        }
    }
}

/// One event loop's copies of a provider's keys.
package enum LoopKeys {
    case one(LoopKeySnapshot, KeyStore)
    /// Of an entry with many issuers.
    case many(LoopIssuers)
}

extension Provider {
    /// Whether its tokens can be verified, as far as that depends on what has been fetched from it.
    package func state(_ fetched: LoopKeySnapshot, at now: MonotonicTime) -> KeyState {
        guard let introspector else { return KeyState(fetched.snapshot, at: now) }
        // Opaque tokens need no keys.
        return introspector.endpoint(fetched.endpoints) == nil ? .unavailable : .ready
    }
}

extension KeyStatus {
    /// When the next fetch is planned, in Unix seconds; `nil` while one is in progress.
    ///
    /// - Parameter unixSeconds: the current time.
    package func nextFetchAt(unixSeconds: Int64) -> Int64? { nextFetchIn.map { unixSeconds + $0.secondsRoundedUp } }

    /// Writes why the last fetch failed, or `null`.
    package func writeLastError(to json: inout JSONWriter) {
        guard let lastFailure else { return json.null() }
        json.beginObject()
        json.member("at", lastFailureAtUnixSeconds)
        json.member("phase", lastFailure.phase.rawValue)
        json.member("message", lastFailure.message)
        json.endObject()
    }
}
