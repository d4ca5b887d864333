private import Host
internal import NIOCore
internal import OpenSSL
internal import ReplayStore

/// One event loop's access to the store for single-use claims. Confined to that loop.
final class LoopStore {
    let claims: any ReplayStore
    /// For computing the keys of claims.
    let digests: DigestContext

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ setup: StoreSetup, on loop: any EventLoop) throws(OpenSSLError) {
        digests = try DigestContext()
        let store: any ReplayStore =
            switch setup.kind {
            case .memory(let memory): MemoryStore(memory)
            case .valkey(let settings, let monitor): ValkeyStore(settings, on: loop, monitor)
            }
        claims = RefusalStore(store, setup.refused, on: loop)
    }

    /// Closes the store's connections.
    func end() { claims.end() }

    var status: StoreStatus {
        claims.status(now: StoreTime(monotonic: SystemClocks.monotonic(), unixSeconds: SystemClocks.unixSeconds()))
    }
}

@available(*, unavailable) extension LoopStore: Sendable {}
