package import IDToken
package import JOSE
package import OpenSSL

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
        left.octets.withBytes { left in
            right.octets.withBytes { right in left.indices.allSatisfy { left[$0] == right[$0] } }
        }
    }
}
