private import Bytes
package import IDToken

/// A client that is registered with a provider.
package struct OAuthClient: Sendable, Equatable {
    package let id: String
    /// Compared byte for byte.
    package var redirectURIs: [String] = []

    package init(id: String) { self.id = id }

    package func hasRedirectURI(_ uri: String) -> Bool { redirectURIs.contains { $0.isExactly(uri) } }
}

/// A provider's clients, and how its endpoints are used.
package struct GrantRules: Sendable, Equatable {
    package var clients: [OAuthClient]
    package var quirks: Set<ProviderQuirk>

    package init(clients: [OAuthClient], quirks: Set<ProviderQuirk>) {
        self.clients = clients
        self.quirks = quirks
    }

    package func client(_ id: String) -> OAuthClient? { clients.first { $0.id.isExactly(id) } }
}
