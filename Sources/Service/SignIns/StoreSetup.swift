package import ReplayStore

/// The settings of the store for single-use claims. Each event loop creates a ``LoopStore`` from them when it first
/// needs one.
package struct StoreSetup: Sendable {
    package var kind: Kind
    /// As many as the store in memory holds by default: 15 minutes of a flood of 111 a second.
    let refused = RefusedClaims(capacity: 100_000)

    package enum Kind: Sendable {
        case memory(ClaimMemory)
        case valkey(ValkeySettings, StoreMonitor)
    }

    package init(_ kind: Kind) { self.kind = kind }
}
