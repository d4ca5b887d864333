private import Bytes
internal import Host
internal import JOSE

/// Keys that the provider's last answer left out, and that serve on for a while: one thin answer, by a node of the provider's
/// that lags behind or is half configured, must not lose a good key.
///
/// The second whole answer in a row without a key settles it, and so does time.
struct OmittedKeys {
    private var entries: [Entry] = []

    private struct Entry {
        let key: JWK
        let until: MonotonicTime
    }

    init() {}

    /// Those that an earlier process had kept, if their time is not over.
    init(_ keys: [JWK], until: MonotonicTime, now: MonotonicTime) {
        if until > now { entries = keys.map { Entry(key: $0, until: until) } }
    }

    var keys: [JWK] { entries.map(\.key) }
    var isEmpty: Bool { entries.isEmpty }

    /// When the first of them has served its time.
    var firstEnd: MonotonicTime? { entries.lazy.map(\.until).min() }

    /// Takes a whole answer into account.
    ///
    /// A key is omitted where the answer neither holds it, whatever it says of its use now, nor has a new one in its place: one
    /// of the same `kid` that can verify and was not there before.
    ///
    /// - Parameters:
    ///   - former: the keys that served until now, those already omitted once among them.
    ///   - until: how long those serve that this answer is the first to omit.
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

    /// Drops those whose time is over.
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

    /// What makes two keys the same one.
    fileprivate var identity: Identity { Identity(keyID: exactKeyID, thumbprint: thumbprint) }
}
