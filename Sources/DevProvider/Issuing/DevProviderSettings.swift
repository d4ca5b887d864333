package import IDToken
package import JOSE
internal import OpenSSL

/// The settings of a provider that a development provider stands in for.
package struct DevProviderSettings: Sendable {
    /// Its issuer is the development provider's; see ``DevProviderServer/issuer(of:)``.
    package var policy: ProviderPolicy
    /// The name of its preset.
    package var preset: String
    /// `nil` if its ID Tokens are verified.
    package var accessTokens: AccessTokenDialect?
    /// Whether its access tokens say nothing themselves, so that it must be asked about them.
    package var hasOpaqueTokens: Bool
    /// Whether its UserInfo responses are JWTs.
    package var signsUserInfo: Bool
    /// `nil` if it encrypts nothing.
    package var encryption: DevEncryption?
    package var clients: [DevClient]
    package var quirks: Set<ProviderQuirk>
    /// `nil` for an entry with one issuer.
    package var issuers: DevIssuers?
    /// Which of ``issuers`` this is; `nil` for the entry.
    var number: String?

    package init(
        policy: ProviderPolicy, preset: String, accessTokens: AccessTokenDialect?, hasOpaqueTokens: Bool = false,
        signsUserInfo: Bool = false, encryption: DevEncryption? = nil, clients: [DevClient],
        quirks: Set<ProviderQuirk>, issuers: DevIssuers? = nil
    ) {
        self.policy = policy
        self.preset = preset
        self.accessTokens = accessTokens
        self.hasOpaqueTokens = hasOpaqueTokens
        self.signsUserInfo = signsUserInfo
        self.encryption = encryption
        self.clients = clients
        self.quirks = quirks
        self.issuers = issuers
    }

    var id: String { policy.id }

    /// The preset in a few words.
    var summary: String { ProviderPreset.named(preset)?.summary ?? preset }

    /// What its audiences are: an API's is not a client's.
    var nameOfAudiences: String { accessTokens == nil ? "Client ID" : "Audience" }

    /// The algorithm of its tokens: RS256 if the policy accepts it, or else the first that the policy accepts. Many issuers
    /// prefer ES256: its keys take a thousandth of the time.
    var algorithm: SignatureAlgorithm {
        let preferred: [SignatureAlgorithm] = issuers == nil ? [] : [.es256]
        return (preferred + SignatureAlgorithm.allCases).first { policy.algorithms?.contains($0) ?? true } ?? .rs256
    }

    /// A new signing key for ``algorithm``. Takes some time.
    ///
    /// - Throws: ``OpenSSLError``.
    func makeKey() throws(OpenSSLError) -> SigningKey { try SigningKey(generating: algorithm.keyKind) }
}

/// What a development provider encrypts, and to which key of the relying party.
package struct DevEncryption: Sendable {
    let kinds: Set<Kind>
    let encrypter: JWEEncrypter

    package enum Kind: Sendable {
        case idToken, userInfo, response, notification
    }

    package init(_ kinds: Set<Kind>, _ encrypter: JWEEncrypter) {
        self.kinds = kinds
        self.encrypter = encrypter
    }
}

/// A client that is registered with a development provider.
package struct DevClient: Sendable {
    package private(set) var id: String
    /// In addition to URIs of loopback and test hosts, which every client may use.
    /// `{connection}` in one stands for any text that a path's segment or a query's value can be.
    package let redirectURIs: [String]
    package let authentication: Authentication
    /// Whether it must push its authorization requests (RFC 9126, section 6).
    package let mustPush: Bool
    /// Whether it must sign them (RFC 9101, section 10.5).
    package let mustSign: Bool
    /// Whether its tokens are bound to a key, which it must prove (`dpop_bound_access_tokens`; RFC 9449, section 5.2).
    package let mustProve: Bool
    /// Whether responses to it name the issuer, even if the provider's others do not.
    package let needsResponseIssuer: Bool
    /// Where the browser may go after the person has signed out, in addition to URIs of loopback and test hosts.
    package let postLogoutRedirectURIs: [String]

    package init(
        id: String, redirectURIs: [String], authentication: Authentication, mustPush: Bool = false,
        mustSign: Bool = false, mustProve: Bool = false, needsResponseIssuer: Bool = false,
        postLogoutRedirectURIs: [String] = []
    ) {
        self.id = id
        self.redirectURIs = redirectURIs
        self.authentication = authentication
        self.mustPush = mustPush
        self.mustSign = mustSign
        self.mustProve = mustProve
        self.needsResponseIssuer = needsResponseIssuer
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
    }

    /// The same registration under another ID.
    func named(_ id: String) -> DevClient {
        var client = self
        client.id = id
        return client
    }

    /// How the client must authenticate. Any secret or key is accepted, because the provider does not know
    /// the client's.
    package enum Authentication: Sendable {
        case basic, post, appleSecret, assertion, none
        /// Any method: the settings have no client with this ID.
        case any
    }
}
