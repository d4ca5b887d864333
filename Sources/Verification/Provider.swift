package import IDToken
package import KeySource
package import Notifications
package import ProviderClient

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
    package let keys: KeyStore
    /// `nil` if the provider has no clients.
    package let grants: ProviderGrants?

    package init(
        policy: ProviderPolicy, accessTokens: AccessTokenDialect? = nil, isOptional: Bool,
        usesNoncesOnce: Bool = false, notifications: NotificationRules? = nil, keys: KeyStore,
        grants: ProviderGrants? = nil
    ) {
        self.policy = policy
        self.accessTokens = accessTokens
        self.isOptional = isOptional
        self.usesNoncesOnce = usesNoncesOnce
        self.notifications = notifications
        self.keys = keys
        self.grants = grants
    }
}
