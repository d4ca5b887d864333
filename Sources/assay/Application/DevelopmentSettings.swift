import DevProvider
import HTTP
import IDToken
import JOSE
import Keys
import OAuth
import OpenSSL
import Settings
import Verification

/// The settings of `assay dev`: a team's settings, with development providers in place of the real ones.
struct DevelopmentSettings {
    let settings: Settings
    /// The providers to stand in for.
    let providers: [DevProviderSettings]
    /// They are generated at each start, because the files that the settings name are never opened.
    let credentials: GivenCredentials

    /// - Parameters:
    ///   - team: the settings to develop with. Their providers, resources, forward-auth policies, limits and rules are used; their listeners, API keys,
    ///     stores and files are not.
    ///   - server: the development providers.
    ///   - issuers: how many issuers an entry with many has.
    /// - Throws: ``ConfigurationError`` for a provider whose ID is a path of the development provider.
    init(
        _ team: Settings, _ server: DevProviderServer, service: ListenAddress, admin: ListenAddress, issuers: Int
    ) throws {
        var settings = Settings()
        settings.service = Settings.Listener(service)
        settings.admin = Settings.Listener(admin)
        settings.servesConsole = true
        // There are no API keys: a page on the Internet could call the service.
        settings.refusesPublicHosts = true
        settings.signIns = Settings.SignIns()
        settings.limits = team.limits
        settings.keys = team.keys
        settings.clockSkewSeconds = team.clockSkewSeconds
        settings.verifiedTokenCacheEntries = team.verifiedTokenCacheEntries
        settings.dpop = team.dpop
        settings.forwardAuth = team.forwardAuth
        for index in settings.forwardAuth.policies.indices { settings.forwardAuth.policies[index].requiresKey = false }
        var (providers, credentials): ([DevProviderSettings], GivenCredentials) = ([], GivenCredentials())
        let ownKeys = try ClientKeys.Loaded(standingInFor: team.clientKeys)
        credentials.ownKeys = team.clientKeys.isEmpty ? nil : ClientKeys(ownKeys)
        for provider in team.providers {
            let id = provider.policy.id
            guard !DevProviderServer.reservedNames.contains(id) else {
                throw ConfigurationError("provider \(id): the development provider has a page of this name; rename it")
            }
            let developed = provider.developed(at: server, issuers: issuers)
            settings.providers.append(developed)
            var emulated = DevProviderSettings(provider, developed, at: server, issuers: issuers)
            emulated.encryption = developed.encryption.flatMap { DevEncryption($0, team.clientKeys, ownKeys) }
            providers.append(emulated)
            for client in provider.clients {
                credentials.clients[id, default: [:]][client.client.id] = try .made(
                    for: client.authentication, issuer: developed.policy.issuer, credentials.ownKeys)
            }
            if let key = provider.namedClients?.key {
                credentials.assertionKeys[id] = ClientSigningKey(
                    id: key.id, JWSSigner(try SigningKey(generating: .ellipticCurve(.p256))))
            }
        }
        settings.resources = team.resources.map { resource in
            var resource = resource
            resource.authorizationServers = resource.providers.compactMap { id in
                settings.providers.first { $0.policy.id == id }?.policy.issuer
            }
            return resource
        }
        (self.settings, self.providers, self.credentials) = (settings, providers, credentials)
    }
}

extension ProviderSettings {
    /// The same provider, with a development provider's issuer, keys and endpoints.
    ///
    /// - Parameter count: of its issuers, if it has many.
    fileprivate func developed(at server: DevProviderServer, issuers count: Int) -> ProviderSettings {
        var provider = self
        let base = "\(server.origin)/\(policy.id)"
        provider.policy.issuer = server.issuer(of: policy)
        provider.policy.issuerAliases = []
        if !policy.keyIssuers.isEmpty {
            provider.policy.keyIssuers = [IssuerTemplate(provider.policy.issuer)].compactMap(\.self)
        }
        provider.network = NetworkRules()
        provider.network.allowHTTP = true
        provider.network.allowPrivateAddresses = true
        provider.network.acceptsDevelopmentKeys = true
        if let issuers {
            provider.develop(issuers, at: base, count)
            return provider
        }
        provider.keys =
            keys.readsDiscovery
            ? .discovery(
                of: provider.policy, url: base + "/.well-known/openid-configuration",
                isOfAccessTokens: provider.accessTokens != nil)
            : .network(.jwkSet(address: base + "/keys"))
        provider.endpoints = ProviderEndpoints(
            authorization: base + "/authorize", token: base + "/token",
            revocation: endpoints.revocation.map { _ in base + "/revoke" },
            userInfo: endpoints.userInfo.map { _ in base + "/userinfo" }, pushedRequest: base + "/par")
        provider.notifications?.issuers = []
        provider.introspection?.endpoint = base + "/introspect"
        for index in provider.clients.indices {
            // The credential is generated, so there is no file to watch.
            provider.clients[index].authentication = .none
            // The development provider has no TLS.
            provider.clients[index].client.hasCertificate = false
            provider.clients[index].client.redirectURIs.append(server.callback(of: policy.id))
        }
        return provider
    }
}

extension ProviderSettings {
    /// - Parameter base: the URL below which the development provider's issuers are.
    private mutating func develop(_ issuers: EntryIssuers, at base: String, _ count: Int) {
        issuersFile = nil
        network.requiresDefaultPort = self.issuers?.isOpen == true
        switch issuers {
        case .any:
            self.issuers = .any(OpenIssuerRules(network: network, others: [], listed: []))
            namedClients?.rules.redirectURIs.append("\(base)/{connection}/callback")
        case .listed(let list):
            // Policies may need a domain in each line.
            let domains = list.namesDomainsEverywhere ? ["example.com"] : []
            let lines = (1...count).map { number in
                let line = IssuerList.Line(number: number, audiences: ["client-\(number)"], domains: domains)
                return (issuer: "\(base)/\(number)", line: line)
            }
            self.issuers = .listed(IssuerList(lines))
        }
    }
}

extension DevProviderSettings {
    /// - Parameters:
    ///   - team: the provider's own settings.
    ///   - developed: those with the development provider's issuer.
    fileprivate init(
        _ team: ProviderSettings, _ developed: ProviderSettings, at server: DevProviderServer, issuers: Int
    ) {
        let callback = server.callback(of: team.policy.id)
        var clients = team.clients.map { DevClient($0, callback: callback) }
        if let named = developed.namedClients?.rules {
            var client = DevClient(id: "client", redirectURIs: named.redirectURIs, authentication: .any)
            client.demand(named.requestForm)
            client.postLogoutRedirectURIs = named.postLogoutRedirectURIs
            clients = [client]
        }
        self.init(policy: developed.policy, preset: team.preset, clients: clients, quirks: team.quirks)
        accessTokens = team.accessTokens
        hasOpaqueTokens = team.introspection != nil
        // What is encrypted must be signed.
        signsUserInfo = team.userInfo == .signed || team.encryption?.required.contains(.userInfo) == true
        self.issuers = team.issuers.map {
            DevIssuers(
                count: issuers, isOpen: $0.isOpen, authentication: team.namedClients?.rules.methods.first?.rawValue)
        }
    }
}

extension DevClient {
    fileprivate init(_ settings: ClientSettings, callback: String) {
        let authentication: Authentication =
            switch settings.authentication {
            case .secret(_, .basic): .basic
            case .secret(_, .post): .post
            case .apple: .appleSecret
            case .privateKeyJWT, .signingKey: .assertion
            case .certificate, .none: .none
            }
        self.init(
            id: settings.client.id, redirectURIs: settings.client.redirectURIs + [callback],
            authentication: authentication)
        demand(settings.client.requestForm)
        mustProve = settings.client.senderConstraint == .dpop
        needsResponseIssuer = settings.client.profile != nil
        postLogoutRedirectURIs = settings.client.postLogoutRedirectURIs
    }

    fileprivate mutating func demand(_ form: AuthorizationRequestForm?) {
        mustPush = form?.isPushed == true
        mustSign = form?.isSigned == true
    }
}

extension ClientCredential {
    /// A credential that a development provider accepts.
    ///
    /// - Parameter ownKeys: `nil` if the settings have none.
    /// - Throws: ``OpenSSLError``.
    fileprivate static func made(
        for authentication: ClientSettings.Authentication, issuer: String, _ ownKeys: ClientKeys?
    ) throws -> ClientCredential {
        switch authentication {
        case .certificate, .none: return .none
        case .secret(_, let place): return .secret(try SecretBytes("development".utf8.span), sentIn: place)
        case .apple(let teamID, let keyID, _):
            let key = try SigningKey(generating: .ellipticCurve(.p256))
            return AppleClientKey(key, teamID: teamID, keyID: keyID).map(ClientCredential.apple) ?? .none
        case .privateKeyJWT(let keyID, _, _, _):
            let key = try SigningKey(generating: .ellipticCurve(.p256))
            return .key(ClientSigningKey(id: keyID, JWSSigner(key)), certificateThumbprint: nil, audience: issuer)
        case .signingKey(let id, _): return ownKeys.map { .ownKey($0, id: id, audience: issuer) } ?? .none
        }
    }
}

extension ClientKeys.Loaded {
    /// New keys with the IDs and algorithms of the settings, whose files are not opened.
    ///
    /// - Throws: ``OpenSSLError``, or ``ConfigurationError`` for algorithms of which no key is capable.
    fileprivate init(standingInFor settings: [ClientKeySettings]) throws {
        self.init()
        var set = JSONWriter()
        set.beginObject()
        set.name("keys")
        set.beginArray()
        for key in settings {
            switch key.use {
            case .signature(let algorithm):
                let made = try SigningKey(generating: algorithm.keyKind)
                guard let signer = JWSSigner(made, algorithm) else { throw OpenSSLError.unspecified }
                signing.append(ClientSigningKey(id: key.id, signer))
                if key.isPublished { try set.publicKey(id: key.id, of: made, algorithm) }
            case .encryption(let algorithms):
                let isRSA = algorithms.contains { $0.fits(.rsa(modulusLength: 256)) }
                let made = try DecryptionKey(generating: isRSA ? .rsa(modulusLength: 256) : .agreement(.p256))
                guard let usable = EncryptionKey(id: key.id, made, algorithms) else {
                    throw ConfigurationError(
                        "client_keys: \(key.id): no key is for both ECDH-ES and RSA-OAEP; correct algorithms")
                }
                encryption.append(usable)
                if key.isPublished { try set.publicKey(of: usable) }
            }
        }
        set.endArray()
        set.endObject()
        published = set.bytes
    }
}

extension DevEncryption {
    /// What the relying party demands, encrypted as it is registered.
    ///
    /// - Returns: `nil` if it demands nothing, or no key is published.
    fileprivate init?(_ rules: EncryptionRules, _ settings: [ClientKeySettings], _ keys: ClientKeys.Loaded) {
        guard !rules.required.isEmpty, let (id, algorithm) = rules.registered(settings),
            let content = rules.content.first,
            let key = keys.encryption.first(where: { $0.id == id }),
            let encrypter = JWEEncrypter(to: key, algorithm, content)
        else { return nil }
        let kinds = rules.required.map { kind -> Kind in
            switch kind {
            case .idToken: .idToken
            case .userInfo: .userInfo
            case .response: .response
            case .notification: .notification
            }
        }
        self.init(Set(kinds), encrypter)
    }
}

extension Settings {
    /// The settings of `assay dev` without a file.
    ///
    /// - Parameters:
    ///   - origin: of the backend whose users sign in through the browser.
    ///   - hasConnections: whether there are customers with providers of their own.
    /// - Throws: ``SettingsError`` if the origin can't be part of a URL.
    static func development(origin: String, hasConnections: Bool) throws(SettingsError) -> Settings {
        let connections = """

              - id: connections
                issuers: any
                nonce: { required: true }
                notifications: [logout]
                clients:
                  from: request
                  auth: [client_secret_post, client_secret_basic, private_key_jwt, none]
                  redirect_uris: ["\(origin)/callback/{connection}"]
                  key_file: never-opened
                  key_id: development
            """
        return try Settings(
            yaml: """
                providers:
                  - id: apple
                    preset: apple
                    audiences: [com.example.app]
                    notifications: [apple]
                    clients:
                      - id: com.example.app
                        auth: apple
                        team_id: DEVTEAM000
                        key_id: DEVKEY0000
                        key_file: never-opened
                        redirect_uris: ["\(origin)/callback/apple"]
                        scopes: [name, email]
                  - id: google
                    preset: google
                    audiences: [example-client-id.apps.example.com]
                    notifications: [security_event, logout]
                    clients:
                      - id: example-client-id.apps.example.com
                        auth: client_secret_post
                        secret_file: never-opened
                        redirect_uris: ["\(origin)/callback/google"]
                        scopes: [email, profile]
                  - id: microsoft
                    preset: microsoft
                    tenant: common
                    audiences: [11111111-2222-4333-8444-555555555555]
                    notifications: [logout]
                    clients:
                      - id: 11111111-2222-4333-8444-555555555555
                        auth: client_secret_post
                        secret_file: never-opened
                        redirect_uris: ["\(origin)/callback/microsoft"]
                        post_logout_redirect_uris: ["\(origin)/signed-out"]
                        scopes: [email, profile]
                  - id: oidc
                    issuer: https://oidc.test
                    audiences: [example-client]
                    nonce: { required: true }
                    notifications: [logout]
                    clients:
                      - id: example-client
                        auth: client_secret_basic
                        secret_file: never-opened
                        redirect_uris: ["\(origin)/callback/oidc"]
                        post_logout_redirect_uris: ["\(origin)/signed-out"]
                        scopes: [email, profile]
                """ + (hasConnections ? connections : ""), environment: [:])
    }
}
