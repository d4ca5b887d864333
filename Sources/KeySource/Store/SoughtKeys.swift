/// The keys that a store asks for one by one, for a provider that publishes no list of them.
///
/// Tokens name these keys. The provider publishes keys of several owners at one address, so a token can name a key of
/// another owner. A key is therefore proven only once it has verified a token, and no other key can push it out then.
struct SoughtKeys {
    /// In the order in which they were proven.
    private(set) var proven: [String] = []
    /// In the order in which they were named.
    private(set) var unproven: [String] = []

    static let maximumProven = 8
    static let maximumUnproven = 2

    var all: [String] { proven + unproven }

    /// A token names a key that is not known.
    mutating func seek(_ keyID: String) {
        guard !all.contains(keyID) else { return }
        unproven = (unproven + [keyID]).suffix(Self.maximumUnproven)
    }

    /// A key has verified a token.
    ///
    /// - Returns: whether this is the first token that it has verified.
    mutating func prove(_ keyID: String) -> Bool {
        guard let index = unproven.firstIndex(of: keyID) else { return false }
        unproven.remove(at: index)
        adopt([keyID])
        return true
    }

    /// Keys that an earlier process had proven.
    mutating func adopt(_ keyIDs: [String]) {
        proven = (proven + keyIDs.filter { !proven.contains($0) }).suffix(Self.maximumProven)
    }

    /// Forgets unproven keys that are not in the key set, after a fetch failed. Any token can name such a key, and its
    /// URL may be the one that failed.
    mutating func forgetUnproven(unless isKnown: (String) -> Bool) { unproven.removeAll { !isKnown($0) } }

    /// Forgets keys that were not found.
    mutating func keepOnly(where isFound: (String) -> Bool) {
        proven.removeAll { !isFound($0) }
        unproven.removeAll { !isFound($0) }
    }
}
