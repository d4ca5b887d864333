private import Bytes
package import JOSE
private import Synchronization

/// A key that signs for clients.
package struct ClientSigningKey: Sendable {
    /// `kid`.
    package let id: String
    package let signer: JWSSigner

    package init(id: String, _ signer: JWSSigner) {
        self.id = id
        self.signer = signer
    }
}

/// The relying party's own keys. They are replaced while the process runs, so each use asks for the keys of now.
///
/// The lock is taken by requests with encrypted tokens, by calls to providers, and by readers of the key set.
package final class ClientKeys: Sendable {
    /// All keys at one time.
    package struct Loaded: Sendable {
        package var signing: [ClientSigningKey] = []
        package var encryption: [EncryptionKey] = []
        /// The JWK Set of those that are published.
        package var published: [UInt8] = []

        package init() {}
    }

    private let loaded: Mutex<Loaded>

    package init(_ loaded: Loaded = Loaded()) { self.loaded = Mutex(loaded) }

    package func change(to other: Loaded) { loaded.withLock { $0 = other } }

    /// The JWK Set that providers read.
    package var published: [UInt8] { loaded.withLock { $0.published } }

    /// The keys that open encrypted tokens.
    ///
    /// - Parameter ids: `nil` for all.
    package func encryption(named ids: [String]?) -> [EncryptionKey] {
        let keys = loaded.withLock { $0.encryption }
        guard let ids else { return keys }
        return keys.filter { key in ids.contains { $0.isExactly(key.id) } }
    }

    /// - Parameter id: `nil` for the first, which signs for every client that names none.
    package func signing(_ id: String?) -> ClientSigningKey? {
        let keys = loaded.withLock { $0.signing }
        guard let id else { return keys.first }
        return keys.first { $0.id.isExactly(id) }
    }
}
