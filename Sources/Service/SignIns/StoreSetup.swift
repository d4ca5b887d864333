package import ReplayStore

/// The settings of the store for single-use claims. Each event loop creates a ``LoopStore`` from them when it first
/// needs one.
package struct StoreSetup: Sendable {
    package var kind: Kind

    package enum Kind: Sendable {
        case memory(ClaimMemory)
        case valkey(ValkeySettings, StoreMonitor)
    }

    package init(_ kind: Kind) { self.kind = kind }
}
