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
    package var hasOpaqueTokens = false
    /// Whether its UserInfo responses are JWTs.
    package var signsUserInfo = false
    /// `nil` if it encrypts nothing.
    package var encryption: DevEncryption?
    package var clients: [DevClient]
    package var quirks: Set<ProviderQuirk>
    /// `nil` for an entry with one issuer.
    package var issuers: DevIssuers?
    /// Which of ``issuers`` this is; `nil` for the entry.
    var number: String?

    package init(policy: ProviderPolicy, preset: String, clients: [DevClient], quirks: Set<ProviderQuirk>) {
        (self.policy, self.preset, self.clients, self.quirks) = (policy, preset, clients, quirks)
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

/// The kinds of token that a development provider encrypts, and the relying party's key for them.
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
    package var mustPush = false
    /// Whether it must sign them (RFC 9101, section 10.5).
    package var mustSign = false
    /// Whether its tokens are bound to a key, which it must prove (`dpop_bound_access_tokens`; RFC 9449, section 5.2).
    package var mustProve = false
    /// Whether responses to it name the issuer, even if the provider's others do not.
    package var needsResponseIssuer = false
    /// Where the browser may go after the person has signed out, in addition to URIs of loopback and test hosts.
    package var postLogoutRedirectURIs: [String] = []

    package init(id: String, redirectURIs: [String], authentication: Authentication) {
        (self.id, self.redirectURIs, self.authentication) = (id, redirectURIs, authentication)
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

/// The issuers of an entry that has many, as a product has whose customers bring their own providers.
///
/// Each is a provider of its own: `ENTRY/1`, `ENTRY/2` and so on, with the client `client-1`, `client-2` and so on. It is
/// generated at the first request that is about it, so that any number of them takes no time at the start.
package struct DevIssuers: Sendable {
    package let count: Int
    /// Whether requests to the service name the connection, because the entry has no list of its issuers.
    let isOpen: Bool
    /// How requests may say that their client authenticates; `nil` if they name none.
    let authentication: String?

    /// An issuer in use takes about 10 KB.
    package static let maximum = 1_000_000
    /// The number of issuers unless another is given.
    package static let usualCount = 10

    package init(count: Int, isOpen: Bool, authentication: String? = nil) {
        self.count = count
        self.isOpen = isOpen
        self.authentication = authentication
    }

    /// The number of one of the issuers, as its URL has it: decimal digits without leading zeros; `nil` if there is none.
    func number(_ text: some StringProtocol) -> Int? {
        guard let number = Int(text), String(number) == text, (1...max(count, 1)).contains(number) else { return nil }
        return number
    }
}

extension DevProviderSettings {
    /// The settings of one of the entry's issuers.
    ///
    /// - Parameter number: its number, or a placeholder for it.
    private func member(_ number: String) -> DevProviderSettings {
        var member = self
        member.number = number
        member.policy.id = "\(id)/\(number)"
        member.policy.issuer = "\(policy.issuer)/\(number)"
        member.policy.audiences = ["client-\(number)"]
        member.clients = clients.map { $0.named("client-\(number)") }
        return member
    }

    func issuer(_ number: Int) -> DevProviderSettings { member(String(number)) }

    /// The settings as people and tools are shown them: `{n}` stands for the number of one of many issuers.
    package var shown: DevProviderSettings { issuers == nil ? self : member("{n}") }

    /// The path of a provider to show: the first of many issuers.
    package var page: String { issuers == nil ? id : issuer(1).id }

    /// The members that name the provider in a request to the service. The connection is the issuer's number.
    var requestMembers: [String: JSONTree] {
        guard let issuers, let number else { return ["provider": .string(id)] }
        let entry = String(id.dropLast(number.count + 1))
        guard issuers.isOpen else { return ["provider": .string(entry)] }
        return [
            "provider": .string(entry), "connection": .string(number), "issuer": .string(policy.issuer),
            "audience": .string(policy.audiences.first ?? ""),
        ]
    }

    /// The members of a finish that a sign-in of a connection needs. Any secret is accepted.
    var finishMembers: [String: JSONTree] {
        guard let number, let authentication = issuers?.authentication else { return [:] }
        var client: [String: JSONTree] = ["auth": .string(authentication)]
        if authentication.hasPrefix("client_secret") { client["secret"] = .string("development") }
        return ["connection": .string(number), "client": .object(client)]
    }
}
