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

    package enum SecretPlace: Sendable { case basic, post }
}
