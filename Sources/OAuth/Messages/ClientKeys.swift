private import Bytes
package import IDToken
package import JOSE
package import OpenSSL
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

/// The private key of a grant's DPoP proofs, on P-256. The tokens of the grant are bound to it.
///
/// It signs nothing but proofs, and nothing but the provider's endpoints and the backend get one.
package struct ProofKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// For a sealed text alone.
    package let octets: SecretBytes

    /// - Returns: `nil` unless there are as many octets as a key has.
    package init?(_ octets: SecretBytes) {
        guard octets.count == SigningKey.scalarLength else { return nil }
        self.octets = octets
    }

    private init(unchecked octets: SecretBytes) { self.octets = octets }

    /// A new key.
    ///
    /// - Throws: ``OpenSSLError``.
    package static func made() throws(OpenSSLError) -> ProofKey {
        ProofKey(unchecked: try SigningKey(generating: .ellipticCurve(.p256)).scalar())
    }

    /// What signs proofs with the key. Takes about as long as a signature.
    ///
    /// - Throws: ``OpenSSLError``.
    package func signer() throws(OpenSSLError) -> ProofSigner { try ProofSigner(try SigningKey(scalar: octets)) }

    /// A new proof, for one request.
    ///
    /// - Parameters:
    ///   - accessToken: that the request has; `nil` for none.
    ///   - nonce: that the server demands; `nil` for none.
    /// - Throws: ``OpenSSLError``.
    package func proof(
        method: String, url: String, accessToken: AccessToken?, nonce: String?, now: UnixTime
    ) throws(OpenSSLError) -> String {
        try signer().proof(
            method: method, url: url, accessToken: accessToken?.text, nonce: nonce, now: now.seconds)
    }

    package var description: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension ProofKey: Equatable {
    package static func == (left: ProofKey, right: ProofKey) -> Bool {
        left.octets.withBytes { left in right.octets.withBytes { left.isExactly($0) } }
    }
}
