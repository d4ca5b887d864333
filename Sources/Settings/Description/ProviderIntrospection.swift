private import HTTP
internal import IDToken
private import Keys
internal import OAuth

/// Whether the answers of an endpoint must be signed.
enum AnswerSignature: String, CaseIterable {
    case accepted, required
}

/// Opaque access tokens: how their provider is asked, and what they must grant.
extension ProviderReading {
    /// The default of `max_calls`: each request with a token that is not cached may need one.
    static let maximumQuestions = 256

    static let requiredScopes = Setting(
        "required_scopes", listOf: .scope, refusesEmpty: "must name at least one scope",
        "Scopes, all of which every token must grant; otherwise `scope_missing`. Only with `tokens: opaque`.")

    /// Must come before the audiences.
    @Sendable static func readRequiredScopes(_ section: Section, _ provider: inout ProviderReading) {
        guard let scopes = requiredScopes.read(section) else { return }
        guard provider.introspection != nil else {
            guard !section.isFaulty(tokens.name) else { return }
            return section.refuse(
                requiredScopes.name,
                "required_scopes needs tokens: opaque; remove it, and send scopes with requests, or set require.scopes of a policy"
            )
        }
        provider.accessTokens?.requiredScopes = scopes
    }

    private static let cache = Setting(
        "cache", .seconds(0...3600), defaultDescription: "`0s`: each request asks",
        "How long an answer about an active token is used again, but never past the token's `exp`. A token that is revoked meanwhile passes until then."
    )
    private static let introspectionEndpoint = Setting(
        "endpoint", urlType(NetworkRules()), defaultDescription: "as discovered", "The introspection endpoint.")
    private static let signed = Setting(
        "signed", ValueType<AnswerSignature>.word, defaultDescription: "`accepted`",
        "Whether answers must be signed (RFC 9701): `required` asks for `application/token-introspection+jwt`, and refuses anything else."
    )

    static let introspectionSettings = SettingDescription(
        section: "introspection", [cache.description, introspectionEndpoint.description, signed.description],
        "How the provider is [asked about its tokens](introspection.md) (RFC 7662). Only with `tokens: opaque`, which also needs one of `clients`."
    )

    /// Must come after the clients and the location of the keys.
    @Sendable static func readIntrospection(_ section: Section, _ provider: inout ProviderReading) {
        let own = section.section("introspection")
        let network = provider.network
        let seconds = cache.read(own)
        let endpoint = own.scalar(introspectionEndpoint.name, urlType(network))
        let signature = signed.read(own)
        own.finish()
        guard provider.introspection != nil else {
            let isThere = seconds != nil || endpoint != nil || signature != nil
            if isThere || section.mentions("introspection"), !section.isFaulty(tokens.name) {
                section.refuse("introspection", "introspection needs tokens: opaque; remove it")
            }
            return
        }
        if let endpoint { check(endpoint, own, introspectionEndpoint.name, network) }
        var rules = IntrospectionRules()
        rules.cachePeriod = .seconds(own.given(seconds, cache, else: 0))
        rules.endpoint = endpoint
        rules.mustBeSigned = own.given(signature, signed, else: .accepted) == .required
        provider.introspection = rules
        checkQuestions(section, provider, endpoint)
    }

    /// Checks that there is someone to ask, and a client to ask with.
    private static func checkQuestions(_ section: Section, _ provider: ProviderReading, _ endpoint: String?) {
        let clients = ClientReader.setting.name
        let count = provider.clients.count
        let message = "tokens: opaque needs one client, with which the provider is asked; found \(count)"
        section.refuse(clients, if: count > 1, message)
        section.refuseMissing(clients, if: count == 0, message)
        section.refuse(
            "issuer", if: provider.policy.hasTemplateIssuer,
            "tokens: opaque needs one issuer, because opaque tokens name none; write it without a claim in braces")
        section.refuse(
            "introspection", if: endpoint == nil && !provider.keys.readsDiscovery,
            "introspection.endpoint is needed, because no discovery document is read for this provider; set it")
    }
}
