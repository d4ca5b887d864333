package import JOSE
package import OAuth

/// A validated key of `client_keys`.
package struct ClientKeySettings: Sendable, Equatable {
    /// `kid`.
    package let id: String
    package let use: Use
    package let keyFile: String
    /// Whether `/v1/jwks` offers it.
    package let isPublished: Bool
    /// The profile of a client that it signs for.
    package var profile: SecurityProfile?

    /// What the key is for, with its algorithms.
    package enum Use: Sendable, Equatable {
        case signature(SignatureAlgorithm)
        /// At least one.
        case encryption([KeyManagementAlgorithm])

        package var isSignature: Bool { if case .signature = self { true } else { false } }
    }
}
