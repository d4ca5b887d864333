package import ReplayStore

/// Where it is remembered what was used, for all event loops; each makes a ``LoopStore`` of it once it needs one.
package struct StoreSetup: Sendable {
    package var kind: Kind

    package enum Kind: Sendable {
        case memory(ClaimMemory)
        case valkey(ValkeySettings, StoreMonitor)
    }

    package init(_ kind: Kind) { self.kind = kind }
}
