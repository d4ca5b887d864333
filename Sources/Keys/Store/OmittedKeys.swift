private import Bytes
internal import HTTP
internal import JOSE

/// Keys that the provider's last response omitted and that are kept for a while: one incomplete response, from a server
/// that lags behind or is half-configured, must not remove a good key.
///
/// A second consecutive complete response without the key removes it, and so does time.
struct OmittedKeys {
    private var entries: [Entry] = []

    private struct Entry {
        let key: JWK
        let until: MonotonicTime
    }

    init() {}

    /// The keys that an earlier process kept, unless their grace period is over.
    init(_ keys: [JWK], until: MonotonicTime, now: MonotonicTime) {
        if until > now { entries = keys.map { Entry(key: $0, until: until) } }
    }

    var keys: [JWK] { entries.map(\.key) }
    var isEmpty: Bool { entries.isEmpty }

    /// When the first of them expires.
    var firstEnd: MonotonicTime? { entries.lazy.map(\.until).min() }

    /// Compares a complete response with the keys in use.
    ///
    /// A key is omitted if the response does not contain it (whatever it says about its use now) and does not replace
    /// it. A replacement is a usable key with the same `kid` that was not there before.
    ///
    /// - Parameters:
    ///   - former: the keys in use until now, including keys that were already omitted once.
    ///   - until: the end of the grace period for keys that this response is the first to omit.
    mutating func compare(_ answer: JWKSet, with former: JWKSet, until: MonotonicTime) {
        let held = Set(answer.keys.map(\.identity))
        let before = Set(former.keys.map(\.identity))
        let replaced = Set(answer.keys.filter { $0.isUsable && !before.contains($0.identity) }.compactMap(\.exactKeyID))
        let omittedOnce = Set(entries.map(\.key.identity))
        entries = former.keys.filter { key in
            key.isUsable && !held.contains(key.identity) && !omittedOnce.contains(key.identity)
                && !(key.exactKeyID.map(replaced.contains) ?? false)
        }.map { Entry(key: $0, until: until) }
    }

    /// Removes keys whose grace period is over.
    ///
    /// - Returns: whether there were any.
    mutating func dropExpired(now: MonotonicTime) -> Bool {
        let count = entries.count
        entries.removeAll { $0.until <= now }
        return entries.count < count
    }

    mutating func dropAll() { entries = [] }
}

extension JWK {
    fileprivate struct Identity: Hashable {
        let keyID: ExactString?
        let thumbprint: String
    }

    fileprivate var exactKeyID: ExactString? { keyID.map(ExactString.init) }

    /// Identifies a key by its `kid` and thumbprint.
    fileprivate var identity: Identity { Identity(keyID: exactKeyID, thumbprint: thumbprint) }
}
