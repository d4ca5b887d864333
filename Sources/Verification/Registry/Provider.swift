package import IDToken
package import Keys
package import OAuth

/// A configured provider: the rules for its tokens, and the source of its keys.
package struct Provider: Sendable {
    package let policy: ProviderPolicy
    /// How its access tokens are recognized and read; `nil` if its ID Tokens are verified.
    package let accessTokens: AccessTokenDialect?
    /// Whether the service can be ready without this provider's keys.
    package let isOptional: Bool
    /// Whether a nonce is rejected once a token with it has been verified.
    package let usesNoncesOnce: Bool
    /// `nil` if no notifications are accepted.
    package let notifications: NotificationRules?
    /// `nil` if no encrypted tokens are opened.
    package let encryption: TokenEncryption?
    package let keys: KeyStore
    /// `nil` if the provider has no clients.
    package let grants: ProviderGrants?

    /// Whether tokens of this kind must be encrypted.
    func mustEncrypt(_ kind: EncryptionRules.Kind) -> Bool { encryption?.rules.required.contains(kind) == true }

    package init(
        policy: ProviderPolicy, accessTokens: AccessTokenDialect? = nil, isOptional: Bool,
        usesNoncesOnce: Bool = false, notifications: NotificationRules? = nil, encryption: TokenEncryption? = nil,
        keys: KeyStore, grants: ProviderGrants? = nil
    ) {
        self.policy = policy
        self.accessTokens = accessTokens
        self.isOptional = isOptional
        self.usesNoncesOnce = usesNoncesOnce
        self.notifications = notifications
        self.encryption = encryption
        self.keys = keys
        self.grants = grants
    }
}

/// The features that at least one configured provider uses.
package struct ProviderFeatures: Sendable {
    /// Whether any provider's nonces are single-use.
    package let usesNoncesOnce: Bool
    /// Whether any provider's notifications are accepted.
    package let acceptsNotifications: Bool
    /// Whether any provider's access tokens are verified.
    package let acceptsAccessTokens: Bool
    /// Whether any provider has clients.
    package let hasClients: Bool

    package init(_ providers: [Provider]) {
        usesNoncesOnce = providers.contains(where: \.usesNoncesOnce)
        acceptsNotifications = providers.contains { $0.notifications != nil }
        acceptsAccessTokens = providers.contains { $0.accessTokens != nil }
        hasClients = providers.contains { $0.grants != nil }
    }
}
