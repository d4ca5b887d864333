package import IDToken
private import JOSE

/// A sign-in that was begun: what its handle holds.
package struct SignIn: Equatable, Sendable {
    package var provider: String
    /// The client to sign in to, one of the provider's audiences.
    package var audience: String
    /// Unguessable; ``nonceText`` is what the app is given.
    package var nonce: [UInt8]
    package var begunAt: UnixTime
    package var expiresAt: UnixTime
    /// How long before the beginning the person may have authenticated, in seconds; `nil`: at any time.
    package var maximumAuthenticationAgeSeconds: Int64?
    /// The person who must finish it; `nil`: anyone.
    package var subject: String?
    /// The issuer whose subject that is; `nil`: the provider has one only.
    package var issuer: String?
    /// The backend's own, handed back at the finish.
    package var context: String?

    /// The nonce as the app is given it, and as the provider gets it where it takes nonces as they are.
    package var nonceText: String { String(decoding: Base64URL.encode(nonce), as: UTF8.self) }

    /// Octets of a ``nonce``.
    static let nonceLength = 24
}
