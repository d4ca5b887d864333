package import OpenSSL

/// The credential by which a client authenticates to its provider.
package enum ClientCredential: Sendable {
    /// `client_secret_basic` or `client_secret_post`.
    case secret(SecretBytes, sentIn: SecretPlace)
    /// `private_key_jwt`. The thumbprint is the SHA-256 of the certificate in DER, for `x5t#S256`.
    case key(SigningKey, keyID: String, certificateThumbprint: [UInt8]?, audience: String)
    /// Apple's client secret, made from a key when needed.
    case apple(AppleClientSecret)
    /// A public client.
    case none

    package enum SecretPlace: String, Sendable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"
    }

    /// The credential as an endpoint accepts it: as configured, or else by the first listed method that a secret can be
    /// sent by.
    ///
    /// - Parameter methods: the endpoint's authentication methods (RFC 8414, section 2); `nil` if they are not known.
    func accepted(by methods: [String]?) -> ClientCredential {
        guard case .secret(let secret, _) = self, let other = otherPlace(acceptedBy: methods) else { return self }
        return .secret(secret, sentIn: other)
    }

    /// Where an endpoint with these methods accepts a secret; `nil` if it accepts the configured method, or none that a
    /// secret can be sent by.
    func otherPlace(acceptedBy methods: [String]?) -> SecretPlace? {
        guard case .secret(_, let place) = self, let methods, !methods.contains(place.rawValue) else { return nil }
        return methods.lazy.compactMap(SecretPlace.init).first
    }
}
