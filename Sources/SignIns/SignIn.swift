package import IDToken
private import JOSE

/// A sign-in that has begun: the contents of its handle.
package struct SignIn: Equatable, Sendable {
    package var provider: String
    /// The client ID to sign in to, one of the provider's audiences.
    package var audience: String
    /// Random octets. The app receives them as ``nonceText``.
    package var nonce: [UInt8]
    package var begunAt: UnixTime
    package var expiresAt: UnixTime
    /// The maximum time between the user's authentication and the start of the sign-in, in seconds; `nil`: any.
    package var maximumAuthenticationAgeSeconds: Int64?
    /// The subject of the user who must finish it; `nil`: any user.
    package var subject: String?
    /// The issuer of the subject; `nil` if the provider has only one issuer.
    package var issuer: String?
    /// The backend's own data, returned at the finish.
    package var context: String?

    /// The nonce as the app receives it. The provider receives the same text, or its hash if it expects hashed nonces.
    package var nonceText: String { String(decoding: Base64URL.encode(nonce), as: UTF8.self) }

    /// Length of a ``nonce`` in octets.
    static let nonceLength = 24
}
