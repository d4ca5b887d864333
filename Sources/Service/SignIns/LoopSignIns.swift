internal import OpenSSL
internal import SignIns

/// What the sign-ins of one event loop share. Confined to that loop.
final class LoopSignIns {
    private(set) var sealer: SignInSealer
    let store: LoopStore

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ keys: HandleKeys, _ store: LoopStore) throws(OpenSSLError) {
        sealer = try SignInSealer(keys)
        self.store = store
    }

    /// Seals and opens with other keys from the next request on.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory; it goes on with those it has.
    func change(to keys: HandleKeys) throws(OpenSSLError) { sealer = try SignInSealer(keys) }
}

@available(*, unavailable) extension LoopSignIns: Sendable {}
