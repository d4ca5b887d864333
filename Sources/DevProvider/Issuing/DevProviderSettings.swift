package import IDToken
internal import JOSE
internal import OpenSSL

/// The settings of a provider that a development provider stands in for.
package struct DevProviderSettings: Sendable {
    /// Its issuer is the development provider's; see ``DevProviderServer/issuer(of:)``.
    package var policy: ProviderPolicy
    /// The name of its preset.
    package var preset: String
    /// `nil` if its ID Tokens are verified.
    package var accessTokens: AccessTokenDialect?
    package var clients: [DevClient]
    package var quirks: Set<ProviderQuirk>

    package init(
        policy: ProviderPolicy, preset: String, accessTokens: AccessTokenDialect?, clients: [DevClient],
        quirks: Set<ProviderQuirk>
    ) {
        self.policy = policy
        self.preset = preset
        self.accessTokens = accessTokens
        self.clients = clients
        self.quirks = quirks
    }

    var id: String { policy.id }

    /// The preset in a few words.
    var summary: String { ProviderPreset.named(preset)?.summary ?? preset }

    /// What its audiences are: an API's is not a client's.
    var nameOfAudiences: String { accessTokens == nil ? "Client ID" : "Audience" }

    /// The algorithm of its tokens: RS256 if the policy accepts it, or else the first that the policy accepts.
    var algorithm: SignatureAlgorithm {
        SignatureAlgorithm.allCases.first { policy.algorithms?.contains($0) ?? true } ?? .rs256
    }

    /// A new signing key for ``algorithm``. Takes some time.
    ///
    /// - Throws: ``OpenSSLError``.
    func makeKey() throws(OpenSSLError) -> SigningKey { try SigningKey(generating: algorithm.keyKind) }
}

/// A client that is registered with a development provider.
package struct DevClient: Sendable {
    package let id: String
    /// In addition to URIs of loopback and test hosts, which every client may use.
    package let redirectURIs: [String]
    package let authentication: Authentication

    package init(id: String, redirectURIs: [String], authentication: Authentication) {
        self.id = id
        self.redirectURIs = redirectURIs
        self.authentication = authentication
    }

    /// How the client must authenticate. Any secret or key is accepted, because the provider does not know
    /// the client's.
    package enum Authentication: Sendable {
        case basic, post, appleSecret, assertion, none
        /// Any method: the settings have no client with this ID.
        case any
    }
}
