/// Divides the room of a ``ClaimMemory`` among providers, so that a flood at one can't lock out the others.
///
/// A tenth of the room is reserved, in equal parts, one for each provider. What one provider has not used of its part is
/// kept from the others. All the rest goes to whoever asks first. With one provider, nothing is reserved.
struct ClaimQuota {
    let capacity: Int
    private(set) var total = 0
    private var claims: [String: Int] = [:]
    /// How many providers there were at the last claim.
    private var providers = 1

    init(capacity: Int) { self.capacity = capacity }

    /// The share of the room that is in use.
    var fill: Double { Double(total) / Double(capacity) }

    /// Whether there is a provider whose next claim would find no room.
    var isFull: Bool { total >= capacity || claims.keys.contains { !hasRoom(for: $0) } }

    /// Counts one more claim.
    ///
    /// - Parameter providers: how many there are, with and without claims.
    /// - Returns: whether there was room for it.
    mutating func reserve(_ provider: String, sharedBy providers: Int) -> Bool {
        self.providers = providers
        guard hasRoom(for: provider) else { return false }
        total += 1
        claims[provider, default: 0] += 1
        return true
    }

    mutating func release(_ provider: String, _ count: Int) {
        total -= count
        let left = claims[provider, default: 0] - count
        claims[provider] = left > 0 ? left : nil
    }

    private func hasRoom(for provider: String) -> Bool {
        let part = capacity / 10 / max(providers, 1)
        let used = claims.reduce(0) { $1.key == provider ? $0 : $0 + min($1.value, part) }
        // Providers that were removed from the settings may still have claims, so this could be less than zero.
        let keptForOthers = max(part * (providers - 1) - used, 0)
        return capacity - total > keptForOthers
    }
}
