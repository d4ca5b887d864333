package import IDToken
package import KeySource

/// A configured provider: what its tokens must be, and where its keys come from.
package struct Provider: Sendable {
    package let policy: ProviderPolicy
    /// Whether the service counts as ready without this provider's keys.
    package let isOptional: Bool
    /// Whether a nonce that a token was verified with is refused the next time.
    package let usesNoncesOnce: Bool
    package let keys: KeyStore

    package init(policy: ProviderPolicy, isOptional: Bool, usesNoncesOnce: Bool = false, keys: KeyStore) {
        self.policy = policy
        self.isOptional = isOptional
        self.usesNoncesOnce = usesNoncesOnce
        self.keys = keys
    }
}
