internal import OpenSSL
internal import SignIns

/// The shared state for sign-ins on one event loop. Confined to that loop.
final class LoopSignIns {
    private(set) var sealer: SignInSealer
    let store: LoopStore

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ keys: HandleKeys, _ store: LoopStore) throws(OpenSSLError) {
        sealer = try SignInSealer(keys)
        self.store = store
    }

    /// Uses new keys from the next request on.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory; the current keys then stay in use.
    func change(to keys: HandleKeys) throws(OpenSSLError) { sealer = try SignInSealer(keys) }
}

@available(*, unavailable) extension LoopSignIns: Sendable {}
