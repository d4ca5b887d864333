private import Host
internal import NIOCore
internal import OpenSSL
internal import ReplayStore

/// What remembers, for one event loop, what was used. Confined to that loop.
final class LoopStore {
    let claims: any ReplayStore
    /// What makes the keys of claims.
    let digests: DigestContext

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ setup: StoreSetup, on loop: any EventLoop) throws(OpenSSLError) {
        digests = try DigestContext()
        claims =
            switch setup.kind {
            case .memory(let memory): MemoryStore(memory)
            case .valkey(let settings, let monitor): ValkeyStore(settings, on: loop, monitor)
            }
    }

    /// Closes its connections.
    func end() { claims.end() }

    var status: StoreStatus {
        claims.status(now: StoreTime(monotonic: SystemClocks.monotonic(), unixSeconds: SystemClocks.unixSeconds()))
    }
}

@available(*, unavailable) extension LoopStore: Sendable {}
