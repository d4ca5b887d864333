package import JOSE
package import OpenSSL

/// A profile that a provider's clients keep to, whatever other settings would allow.
package enum SecurityProfile: String, Sendable, CaseIterable {
    /// FAPI 2.0 Security Profile (final).
    case fapi2

    /// The algorithms of all signatures, the provider's and ours.
    ///
    /// - Source: FAPI 2.0 Security Profile, section 5.4.1.
    package var algorithms: SignatureAlgorithms { [.ps256, .es256, .edDSA, .ed25519] }

    /// The algorithms, as text.
    package static let algorithmNames = "PS256, ES256 and EdDSA"

    /// What signs with a key.
    ///
    /// - Returns: `nil` if no key of this kind may sign.
    package func signer(_ key: SigningKey) -> JWSSigner? {
        // EdDSA is the variant Ed25519 alone.
        if case .edwards(.ed448) = key.kind { return nil }
        return algorithms.elements.lazy.compactMap { JWSSigner(key, $0) }.first
    }
}
