internal import NIOSSL
private import Synchronization

/// A certificate and its private key, by which connections authenticate a client.
///
/// Equal only to itself: a renewed one is another.
package final class TLSIdentity: Sendable {
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey
    /// The stores whose contexts present it, by their file of additional CA certificates.
    private let stores = Mutex<[String?: TrustStore]>([:])

    /// - Parameters:
    ///   - chain: PEM: the certificate, then those that certify it, if servers need them.
    ///   - key: PEM. The caller overwrites it.
    /// - Throws: an error of NIOSSL for anything else.
    package init(chain: [UInt8], key: [UInt8]) throws {
        self.chain = try NIOSSLCertificate.fromPEMBytes(chain)
        self.key = try NIOSSLPrivateKey(bytes: key, format: .pem)
    }

    func present(in configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }

    /// The trust store whose context presents it. Blocks on disk I/O.
    ///
    /// - Throws: an error of NIOSSL if a file can't be read, or the key is not the certificate's.
    func store(caFile: String?) throws -> TrustStore {
        if let store = stores.withLock({ $0[caFile] }), store.isCurrent { return store }
        let store = try TrustStore(caFile: caFile, presenting: self)
        stores.withLock { $0[caFile] = store }
        return store
    }
}

extension TLSIdentity: Hashable {
    package static func == (left: TLSIdentity, right: TLSIdentity) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
