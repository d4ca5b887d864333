package import JOSE
package import OpenSSL

/// A profile that a provider's clients keep to, whatever other settings would allow.
package enum SecurityProfile: String, Sendable, CaseIterable {
    /// FAPI 2.0 Security Profile (final).
    case fapi2

    /// The algorithms of all signatures, the provider's and ours.
    ///
    /// - Source: FAPI 2.0 Security Profile, section 5.4.1.
    package var algorithms: SignatureAlgorithms {
        // EdDSA is the variant Ed25519 alone.
        SignatureAlgorithms([.ps256, .es256, .edDSA, .ed25519]).withoutEd448
    }

    /// The algorithms, as text.
    package static let algorithmNames = "PS256, ES256 and EdDSA"

    /// Whether a key of this kind may sign.
    package func allows(_ kind: PublicKeyKind) -> Bool { if case .edwards(.ed448) = kind { false } else { true } }

    /// What signs with a key.
    ///
    /// - Returns: `nil` if no key of this kind may sign.
    fileprivate func signer(_ key: SigningKey) -> JWSSigner? {
        guard allows(key.kind) else { return nil }
        return algorithms.elements.lazy.compactMap { JWSSigner(key, $0) }.first
    }
}

extension ClientCredential {
    /// `private_key_jwt` by a key of the client's own.
    ///
    /// - Parameter profile: decides about the algorithm; `nil`: PS256 with a certificate, as Microsoft documents it, else
    ///   the key's own.
    /// - Returns: `nil` if the profile allows no signature by this key.
    package init?(
        key: SigningKey, keyID: String, certificateThumbprint thumbprint: [UInt8]?, audience: String,
        profile: SecurityProfile? = nil
    ) {
        let signer: JWSSigner? =
            if let profile {
                profile.signer(key)
            } else {
                (thumbprint == nil ? nil : JWSSigner(key, .ps256)) ?? JWSSigner(key)
            }
        guard let signer else { return nil }
        self = .key(ClientSigningKey(id: keyID, signer), certificateThumbprint: thumbprint, audience: audience)
    }
}
