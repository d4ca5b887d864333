package import JOSE

/// A validated key of `client_keys`.
package struct ClientKeySettings: Sendable, Equatable {
    /// `kid`.
    package let id: String
    package let use: Use
    package let keyFile: String
    /// Whether `/v1/jwks` offers it.
    package let isPublished: Bool

    /// What the key is for, with its algorithms.
    package enum Use: Sendable, Equatable {
        case signature(SignatureAlgorithm)
        /// At least one.
        case encryption([KeyManagementAlgorithm])

        package var isSignature: Bool { if case .signature = self { true } else { false } }
    }
}
