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
