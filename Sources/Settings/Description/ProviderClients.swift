internal import IDToken
private import Keys
internal import OAuth
private import Verification

/// Clients, and the endpoints that they call.
extension ProviderReading {
    static let maximumCalls = Setting(
        "max_calls", .integer(1...10_000), defaultDescription: "`64`; `256` with `issuers: any` or `tokens: opaque`",
        "Maximum number of calls to the provider's endpoints in flight; beyond it: `503 provider_unavailable`. With `issuers: any`, also at most 8 to each issuer."
    )

    private typealias EndpointPath = any WritableKeyPath<ProviderEndpoints, String?> & Sendable

    private static let tokenEndpoint = endpoint("token", "The token endpoint.")
    private static let allEndpoints: [(setting: Setting<String>, path: EndpointPath)] = [
        (endpoint("authorization", "The authorization endpoint."), \.authorization),
        (tokenEndpoint, \.token), (endpoint("revocation", "The revocation endpoint."), \.revocation),
        (endpoint("user_info", "The UserInfo endpoint."), \.userInfo),
        (
            endpoint(
                "pushed_authorization_request", "The endpoint to which authorization requests are pushed (RFC 9126)."),
            \.pushedRequest
        ),
    ]
    static var endpointNames: [String] { allEndpoints.map(\.setting.name) }

    static let endpoints = SettingDescription(
        section: "endpoints", allEndpoints.map(\.setting.description),
        "The provider's endpoints, if they differ from those in the discovery document.")

    private static func endpoint(_ name: String, _ help: String) -> Setting<String> {
        Setting(name, urlType(NetworkRules()), defaultDescription: "the preset's, else as discovered", help)
    }

    /// Must come after the settings for network access.
    @Sendable static func readEndpoints(_ section: Section, _ provider: inout ProviderReading) {
        let own = section.section("endpoints")
        let network = provider.network
        for (setting, path) in allEndpoints {
            if let url = own.scalar(setting.name, urlType(network)) {
                check(url, own, setting.name, network)
                provider.endpoints[keyPath: path] = url
            } else if let url = provider.endpoints[keyPath: path] {
                own.recordPreset(setting, url)
            }
        }
        if provider.introspection != nil {
            for name in endpointNames where name != tokenEndpoint.name {
                own.refuse(
                    name, if: own.mentions(name),
                    "\(name) is not called for opaque tokens; remove it (introspection.endpoint names the endpoint that is)"
                )
            }
        }
        own.finish()
    }

    static let pkce = Setting(
        "pkce", .onOff, defaultDescription: "`on`; the preset `linkedin` has `off`",
        "Whether sign-ins in a browser use PKCE. Set `off` only for token endpoints that refuse a `code_verifier`.")

    static let unboundCodes = Setting(
        "allow_unbound_codes", .boolean, defaultDescription: "`false`",
        "Allows sign-ins in a browser with neither PKCE nor a nonce, in which an attacker can replace the code with another. Logs a start-up warning."
    )

    private static let userInfoSignature = Setting(
        "signed", ValueType<AnswerSignature>.word, defaultDescription: "`accepted`",
        "Whether UserInfo responses must be signed (`application/jwt`): `required` refuses a plain one.")
    private static let readsUserInfo = Setting(
        "user_info", .boolean, defaultDescription: "`false`",
        "Completes the identity from the UserInfo endpoint when a finish exchanges a code. For providers whose ID Tokens lack names or addresses. A mapping turns it on, too. A signed response is verified, and an encrypted one opened with the keys of `encryption`."
    )

    static let userInfo = SettingDescription(
        name: readsUserInfo.name, expected: "true, false, or a mapping",
        form: .either(readsUserInfo.description.form, .section([userInfoSignature.description])),
        help: readsUserInfo.description.help,
        defaultDescription: "`false`")

    /// - Returns: `nil` if the settings do not say.
    private static func readUserInfo(_ section: Section) -> UserInfoUse?? {
        guard section.node(userInfo.name)?.mapping != nil else {
            return readsUserInfo.read(section).map { $0 ? UserInfoUse.accepted : nil }
        }
        let own = section.section(userInfo.name)
        let signature = userInfoSignature.read(own)
        own.finish()
        let isRequired = own.given(signature, userInfoSignature, else: .accepted) == .required
        return isRequired ? UserInfoUse.signed : .accepted
    }

    /// Settings that have an effect only with clients.
    static let ofClients = [
        maximumCalls.description, pkce.description, unboundCodes.description, userInfo,
        ClientReader.setting,
    ]

    /// Must come after the audiences, the endpoints and the location of the keys.
    @Sendable static func readClients(_ section: Section, _ provider: inout ProviderReading) {
        let maximum = maximumCalls.read(section)
        let (pkce, unboundCodes, userInfo) = (pkce.read(section), unboundCodes.read(section), readUserInfo(section))
        if provider.issuers?.isOpen == true {
            readNamedClients(section, &provider)
        } else if section.node(ClientReader.setting.name)?.mapping != nil {
            section.refuse(
                ClientReader.setting.name,
                "clients must be a list: only a provider with issuers: any takes them from requests")
        } else if let clients = ClientReader.read(section, provider) {
            provider.clients = clients
        }
        guard provider.introspection == nil else {
            provider.maximumCalls = section.given(maximum, maximumCalls, else: provider.maximumCalls)
            return
        }
        let clients = ClientReader.setting.name
        guard provider.settings.hasClients || section.isFaulty(clients) else {
            return section.refuse(
                [maximumCalls.name, Self.pkce.name, Self.unboundCodes.name, Self.userInfo.name],
                "has no effect without clients; remove it, or add clients")
        }
        let preset = provider.facts.usesPKCE ? EffectiveSettings.Origin.default : section.preset
        provider.maximumCalls = section.given(maximum, maximumCalls, else: provider.maximumCalls)
        provider.usesPKCE = section.given(pkce, Self.pkce, else: provider.usesPKCE, preset)
        provider.allowsUnboundCodes = section.given(unboundCodes, Self.unboundCodes, else: false)
        if userInfo == nil { section.record(readsUserInfo.name, readsUserInfo.shown(false), .default) }
        provider.userInfo = userInfo ?? nil
        section.refuse(
            clients, if: !provider.usesPKCE && provider.namedClients?.rules.methods.contains(.none) == true,
            "auth: none needs PKCE; remove pkce: off, or remove none from clients.auth")
        func refuseClient(_ reason: String, ifAny isWrong: (ClientSettings) -> Bool) {
            guard let client = provider.clients.first(where: isWrong)?.client else { return }
            section.refuse(clients, "the client \(client.id) \(reason)")
        }
        refuseClient("has auth: none, which needs PKCE; remove pkce: off, or give it a secret") {
            !provider.usesPKCE && $0.authentication == .none
        }
        let endpoints = provider.endpoints
        let called = [endpoints.token, endpoints.revocation, endpoints.pushedRequest, endpoints.userInfo]
        refuseClient("has auth: tls_client_auth, which needs https; correct the provider's endpoints") {
            $0.client.hasCertificate && called.contains { $0?.hasPrefix("http:") == true }
        }
        // A profile refuses whatever stands in for the document.
        guard !provider.keys.readsDiscovery, provider.profile == nil else { return }
        let noDocument = "because no discovery document is read for this provider; set it"
        section.refuse(clients, if: endpoints.token == nil, "clients need endpoints.token, \(noDocument)")
        refuseClient("pushes its requests, which needs endpoints.pushed_authorization_request, \(noDocument)") {
            endpoints.pushedRequest == nil && $0.client.requestForm?.isPushed == true
        }
        section.refuse(
            Self.userInfo.name, if: provider.userInfo != nil && endpoints.userInfo == nil,
            "user_info needs endpoints.user_info, \(noDocument)")
        let hasRedirectURIs = provider.clients.contains { !$0.client.redirectURIs.isEmpty }
        section.refuse(
            clients,
            if: endpoints.authorization == nil && hasRedirectURIs && !provider.facts.refusesBrowserSignIns,
            "redirect_uris need endpoints.authorization, \(noDocument)")
    }
}

extension ProviderReading {
    /// The endpoints are those of each issuer's document: with others, all customers' codes and secrets would go to one
    /// server.
    fileprivate static func readNamedClients(_ section: Section, _ provider: inout ProviderReading) {
        section.refuse(
            endpoints.name, if: provider.endpoints != ProviderEndpoints(),
            "endpoints has no effect with issuers: any, whose endpoints are those of each issuer's discovery document; remove it"
        )
        guard let node = section.node(ClientReader.setting.name) else { return }
        guard node.mapping != nil else {
            section.refuse(
                ClientReader.setting.name,
                "clients of a provider with issuers: any are named by each request; write a mapping with from: request")
            return
        }
        provider.namedClients = NamedClientReader.read(section, provider.policy)
        provider.maximumCalls = CallSlots.limitOfOpenEntry
    }
}

extension KeyLocation {
    /// Whether a discovery document is read.
    package var readsDiscovery: Bool {
        switch self {
        case .network(.discovery, _), .issuers: true
        case .network, .file: false
        }
    }
}

/// Reads `clients` of a provider with `issuers: any`, whose requests name their client.
enum NamedClientReader {
    /// The values of `from`.
    private enum Origin: String, CaseIterable, Sendable {
        case request
    }

    private static let from = Setting(
        "from", ValueType<Origin>.word, isRequired: true,
        "Only with `issuers: any`: `request`, because each request names its client: the `audience` is its ID, and `client` says how it authenticates."
    )
    private static let auth = Setting(
        "auth", listOf: ValueType<RequestAuthentication.Method>.word,
        "The ways to authenticate that a request may name in `client.auth`.")
    private static let redirectURIs = Setting(
        "redirect_uris", listOf: ClientReader.redirectURI,
        "The redirect URIs of every connection, with `{connection}` in the path or the query. Each connection needs its own: otherwise an attacker's provider could receive the codes of another."
    )
    private static let postLogoutRedirectURIs = Setting(
        "post_logout_redirect_uris", listOf: ClientReader.redirectURI,
        "Where the providers may send the browser after the user has signed out there. `{connection}` in one stands for the connection's ID."
    )
    private static let keyID = Setting("key_id", .text, "The ID of the key at the customers' providers.")
    private static let keyFile = Setting(
        "key_file", .file(.privateKey),
        "A file with the private key (PEM, PKCS#8) for `private_key_jwt`, one for all connections. Re-read when it changes."
    )
    private static let request = Setting(
        ClientReader.request.name, ValueType<AuthorizationRequestForm>.word,
        defaultDescription: "what each provider's discovery document requires, else `plain`",
        "How authorization requests reach the providers. `plain`: as parameters of the URL. `pushed`: sent to the provider by Assay, so that the URL has only a reference (RFC 9126). `signed`: in the URL, as a JWT signed by `key_file` or the first key of `client_keys` (RFC 9101). `signed_pushed`: both. See [Pushed and signed requests](authorization-requests.md)."
    )
    private static let assertionAudience = Setting(
        "assertion_audience", ValueType<AssertionAudience>.word, defaultDescription: "`issuer`",
        "The audience of assertions: always the issuer, because the key is the same for all connections.")

    static let descriptions = [
        from.description, auth.description, redirectURIs.description, postLogoutRedirectURIs.description,
        keyID.description, keyFile.description, assertionAudience.description, request.description,
        ClientReader.responseType.description,
    ]

    /// - Returns: `nil` if an error was reported.
    static func read(_ section: Section, _ policy: ProviderPolicy) -> NamedClientSettings? {
        let own = section.section(ClientReader.setting.name)
        defer { own.finish() }
        let from = from.read(own)
        let methods = auth.read(own)
        let uris = redirectURIs.read(own) ?? []
        let postLogoutURIs = postLogoutRedirectURIs.read(own) ?? []
        let (keyID, keyFile) = (keyID.read(own), keyFile.read(own))
        let request = request.read(own)
        let responseType = ClientReader.responseType.read(own) ?? .code
        ClientReader.checkNonce(responseType, own, policy)
        own.refuseMissing(self.from.name, if: from == nil, "clients of a provider with issuers: any need from: request")
        own.refuseMissing(
            auth.name, if: methods?.isEmpty != false, "clients of a provider with issuers: any need auth, a list")
        if let uri = uris.first(where: { !hasPlace(forConnection: $0) }) {
            own.refuse(
                redirectURIs.name,
                "\(uri) needs {connection} in its path or query: with one address for all connections, an attacker's provider could receive the codes of another"
            )
        }
        own.refuse(
            assertionAudience.name, if: assertionAudience.read(own) == .tokenEndpoint,
            "assertion_audience must be issuer: the key is the same for all connections, so one customer's token endpoint could use the assertion at another's"
        )
        guard from != nil, let methods, !methods.isEmpty else { return nil }
        var rules = NamedClientRules(methods: methods, redirectURIs: uris)
        rules.requestForm = request
        rules.responseType = responseType
        rules.postLogoutRedirectURIs = postLogoutURIs
        guard methods.contains(.key) else {
            own.refuse(
                [self.keyID.name, self.keyFile.name], "only has an effect with auth: private_key_jwt; remove it")
            return NamedClientSettings(rules: rules)
        }
        guard let keyID, let keyFile else {
            own.refuseMissing(
                keyID == nil ? self.keyID.name : self.keyFile.name, "auth: private_key_jwt needs key_id and key_file")
            return nil
        }
        return NamedClientSettings(rules: rules, key: NamedClientSettings.Key(id: keyID, file: keyFile))
    }

    /// Whether each `{connection}` of a redirect URI is in its path or query, and there is one.
    private static func hasPlace(forConnection uri: String) -> Bool {
        let placeholder = NamedClientRules.placeholder
        let rest = uri.drop { $0 != ":" }.dropFirst()
        let local = rest.hasPrefix("//") ? rest.dropFirst(2).drop { !"/?".contains($0) } : rest
        let count = uri.ranges(of: placeholder).count
        return count > 0 && local.ranges(of: placeholder).count == count
            && !uri.replacing(placeholder, with: "").contains { "{}".contains($0) }
    }
}
