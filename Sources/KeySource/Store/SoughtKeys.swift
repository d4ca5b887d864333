/// The keys that a store asks for one by one, for a provider that publishes no list of them.
///
/// Tokens name these keys. The provider publishes keys of several owners at one address, so a token can name a key of
/// another owner. A key therefore counts as proven only once it has verified a token. From then on, only proven keys
/// can evict it.
struct SoughtKeys {
    /// In the order in which they were proven.
    private(set) var proven: [String] = []
    /// Keys that the provider has, in the order in which they were found.
    private var unproven: [String] = []
    /// Keys that the fetch in progress is the first to ask for.
    private var requested: [String] = []
    /// Keys that no fetch has asked for yet, in the order in which tokens named them. Further ones are ignored while
    /// the list is full: each token can name another key, and a later one must not evict an earlier one.
    private var waiting: [String] = []

    static let maximumProven = 8
    static let maximumUnproven = 4

    /// The keys that a fetch asks for.
    var requests: [String] { proven + unprovenRequests }

    /// The keys among them that have not verified a token.
    var unprovenRequests: [String] { unproven + requested }

    /// A token names a key that is not known. The next fetch asks for it.
    mutating func seek(_ keyID: String) {
        guard waiting.count < Self.maximumUnproven, !requests.contains(keyID), !waiting.contains(keyID) else { return }
        waiting.append(keyID)
    }

    /// A fetch begins. It asks for all waiting keys too.
    mutating func beginFetch() { (requested, waiting) = (waiting, []) }

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

    /// A fetch failed. Forgets the unproven keys that are not in the key set: any token can name such a key, and its URL
    /// may be the one that failed.
    mutating func fetchFailed(unless isKnown: (String) -> Bool) {
        unproven.removeAll { !isKnown($0) }
        requested = []
    }

    /// A fetch succeeded. Forgets the keys that it asked for and that are not in the new key set.
    mutating func fetchSucceeded(where isFound: (String) -> Bool) {
        proven.removeAll { !isFound($0) }
        unproven = (unproven + requested).filter(isFound).suffix(Self.maximumUnproven)
        requested = []
    }
}
