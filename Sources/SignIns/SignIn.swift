package import Grants
package import IDToken
private import JOSE
internal import OpenSSL

/// A sign-in that has begun: the contents of its handle.
package struct SignIn: Equatable, Sendable {
    package var provider: String
    /// The client ID to sign in to, one of the provider's audiences.
    package var audience: String
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
    package var kind: Kind

    /// How the user signs in, and what ties the result to this sign-in.
    package enum Kind: Equatable, Sendable {
        /// In an app, with the provider's SDK.
        case native(Nonce)
        case browser(BrowserSignIn)
    }

    /// The nonce that the ID Token must have; `nil` if the provider's nonces are not checked.
    package var nonce: Nonce? {
        switch kind {
        case .native(let nonce): nonce
        case .browser(let browser): browser.nonce
        }
    }
}

/// A sign-in in a browser, by redirects.
package struct BrowserSignIn: Equatable, Sendable {
    /// Returned by the provider with the code, so that nobody else's response finishes this sign-in.
    package var state: State
    /// `nil` if the provider's nonces are not checked.
    package var nonce: Nonce?
    /// `nil` if the provider's token endpoint refuses PKCE.
    package var verifier: CodeVerifier?
    package var redirectURI: String
    /// The provider's issuer, so that the code is not sent to another server that later gets the same id.
    package var issuer: String
    /// Whether the provider said, when the sign-in began, that its responses name the issuer (RFC 9207).
    package var requiresResponseIssuer: Bool
}

/// The raw nonce. The provider receives its text, or the hash of its text.
package typealias Nonce = RandomOctets<NoncePurpose>
/// The `state` of an authorization request (RFC 6749, section 10.12).
package typealias State = RandomOctets<StatePurpose>

/// Random octets, sent as base64url.
package struct RandomOctets<Purpose: RandomPurpose>: Equatable, Sendable {
    package let octets: [UInt8]

    /// - Returns: `nil` unless there are as many octets as the purpose needs.
    package init?(_ octets: [UInt8]) {
        guard octets.count == Purpose.length else { return nil }
        self.octets = octets
    }

    private init(unchecked octets: [UInt8]) { self.octets = octets }

    /// - Throws: ``OpenSSLError`` if the random generator can't be seeded.
    static func random() throws(OpenSSLError) -> Self { Self(unchecked: try randomBytes(Purpose.length)) }

    package var text: String { String(decoding: Base64URL.encode(octets), as: UTF8.self) }
}

/// The purpose of random octets.
package protocol RandomPurpose {
    /// In octets.
    static var length: Int { get }
}

package enum NoncePurpose: RandomPurpose { package static var length: Int { 24 } }
package enum StatePurpose: RandomPurpose { package static var length: Int { 16 } }
