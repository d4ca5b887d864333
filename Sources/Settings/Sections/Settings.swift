internal import HTTP
private import IDToken
private import OAuth
package import Verification

/// All settings, validated.
package struct Settings: Sendable {
    package var service = Listener(.network(host: "127.0.0.1", port: 8080))
    package var admin = Listener(.network(host: "127.0.0.1", port: 9090))
    /// Whether a listener that other machines can reach may be open to all callers.
    var allowsInsecureListen = false
    package var limits = Limits()
    package var keys = Keys()
    package var log = Log()
    /// `nil`: tracing is disabled.
    package var tracing: Tracing?
    /// `nil`: sign-ins are disabled.
    package var signIns: SignIns?
    package var resources: [Resource] = []
    package var forwardAuth = ForwardAuthSettings()
    /// How many answers about opaque tokens are kept.
    package var introspectionEntries = 10_000
    /// `nil`: DPoP proofs are not accepted.
    package var dpop: DPoP?
    /// Where key sets are archived for the next start; `nil`: they are not.
    package var cacheDirectory: String?
    /// Assay's own keys.
    package var clientKeys: [ClientKeySettings] = []
    /// How many verified tokens to cache; 0 disables the cache.
    package var verifiedTokenCacheEntries = 10_000
    /// API keys for the service listener. If empty, none is required.
    package var apiKeys: [APIKey] = []
    /// API keys for the admin listener; `nil`: the same keys as for the service listener.
    var adminAPIKeys: [APIKey]?
    /// Host names, in lower case, that an admin listener without API keys or TLS accepts besides `localhost` and IP
    /// addresses.
    package var adminHosts: [String] = []
    /// Whether the admin listener serves the console.
    package var servesConsole = false
    /// Whether the service listener refuses requests for a host name that someone could register. Not in a file:
    /// `assay dev` sets it.
    package var refusesPublicHosts = false
    /// Maximum number of connections to the admin listener.
    package var adminMaximumConnections = 64
    /// How long to keep serving requests after SIGTERM, before the shutdown begins.
    package var shutdownDelaySeconds: Int64 = 0
    /// How long a stop waits for requests in flight.
    package var shutdownGraceSeconds: Int64 = 10
    /// The default for providers that set none.
    package var clockSkewSeconds: Int64 = 60
    package var providers: [ProviderSettings] = []
    /// Environment variables that Kubernetes set for Services whose names begin with `assay`. They are ignored.
    var serviceLinks: [String] = []
    /// Every file that the settings name and, if they are from one, their own.
    package var files: [NamedFile] = []

    package init() {}

    package struct Keys: Sendable, Equatable {
        package var staleIfErrorSeconds: Int64 = 24 * 3600
        package var maximumFetches = 64
        /// After how long without use an issuer of an entry with many loses its keys; `nil`: the default.
        var idleForSeconds: Int64?

        /// - Parameter isOpen: whether the entry has `issuers: any`.
        package func idleSeconds(isOpen: Bool) -> Int64 { idleForSeconds ?? (isOpen ? 3600 : 24 * 3600) }
    }

    /// API keys for the admin listener. If empty, none is required.
    package var operatorKeys: [APIKey] { adminAPIKeys ?? apiKeys }
}

extension Settings {
    /// The whole file.
    static let members: [Member<Settings>] = [
        Member(
            section: "service", Listener.members(for: "backends").map { $0.within(\.service) },
            "The listener for backends: `/v1/verify` and the other [endpoints](endpoints.md) that callers use."),
        Member(
            section: "admin",
            Listener.members(for: "operators").map { $0.within(\.admin) } + [
                APIKeysReader.setting(
                    defaultDescription: "`api_keys`",
                    "API keys of operators, required for every path of the admin listener except `/metrics`, probes and the console's files."
                ).ifSet(\.adminAPIKeys),
                Setting(
                    "hosts", listOf: .hostName,
                    "Additional values of `Host` that an admin listener with neither API keys nor TLS accepts, besides `localhost` and IP addresses."
                ).at(\.adminHosts),
                Setting("console", .boolean, "Serves a page for operators at `/console`.").at(\.servesConsole),
                Setting(
                    "max_connections", .integer(8...10_000), change: .restart,
                    "Maximum number of connections to the admin listener, separate from the service's so that neither listener can starve the other."
                ).at(\.adminMaximumConnections),
            ],
            "The listener for operators: `/metrics`, `/v1/providers`, `/v1/explain`, `/v1/events`, `/v1/verdicts`, `/livez`, `/readyz` and the console."
        ),
        APIKeysReader.setting(
            "API keys of callers, sent as `Authorization: Bearer …`; list several during a rotation. `assay api-key` generates one. Log and metrics use a key's name, or else its position in the list: `key-1`."
        ).at(\.apiKeys),
        Setting(
            "allow_insecure_listen", .boolean,
            "Allows a listener that other machines can reach to have neither API keys nor client certificates."
        ).at(\.allowsInsecureListen),
        Member([], read: ListenerReader.checkReach),
        Member(section: "limits", Limits.members, "Sizes, counts and timeouts that clients can't exceed."),
        Limits.check,
        Member(
            section: "keys",
            [
                Setting(
                    "stale_for", .seconds(0...(30 * 86400)),
                    "How long expired keys stay in use while a provider can't be reached (stale-if-error)."
                ).at(\.keys.staleIfErrorSeconds),
                Setting(
                    "max_fetches", .integer(1...1000),
                    "Maximum number of providers whose keys are fetched at the same time; the others wait. Retries after a failure get at most half of it."
                ).at(\.keys.maximumFetches),
                Setting(
                    "idle_for", .seconds(1...(30 * 86400)), defaultDescription: "`24h`; `1h` for `issuers: any`",
                    "How long an issuer of an entry with many may be unused before its keys are dropped. They are fetched again when needed."
                ).ifSet(\.keys.idleForSeconds),
            ], "The providers' key sets."),
        Member(section: "log", Log.members, "The log on standard error, one JSON object per line."),
        TracingReader.member,
        SignInReader.member,
        Setting(
            "cache_directory", .text, change: .restart,
            "The directory that keeps the last good key sets across restarts."
        ).ifSet(\.cacheDirectory),
        Member(
            section: "verified_token_cache",
            [
                Setting(
                    "entries", .integer(0...1_000_000),
                    "How many valid signatures to remember, so that a repeated token needs no second signature check. Claims, times and nonce are checked each time. `0` turns the cache off."
                ).at(\.verifiedTokenCacheEntries)
            ], "The cache of verified signatures."),
        Member(
            section: "introspection",
            [
                Setting(
                    "entries", .integer(0...1_000_000),
                    "How many answers about opaque tokens to keep for `introspection.cache` of their providers: about active tokens, and in a table of its own, for 5 s, about inactive ones. When it is full, the oldest are forgotten. The answers about active tokens take at most 4 KiB each on average."
                ).at(\.introspectionEntries)
            ], "The cache of providers' answers about [opaque access tokens](introspection.md)."),
        Setting(
            "shutdown_delay", .seconds(0...300),
            "How long to keep serving after SIGTERM while `/readyz` returns 503 and responses carry `Connection: close`, so that load balancers can drain. A second SIGTERM or SIGINT ends the delay."
        ).at(\.shutdownDelaySeconds),
        Setting(
            "shutdown_grace", .seconds(0...600),
            "How long a shutdown waits for requests in flight, after `shutdown_delay`."
        ).at(\.shutdownGraceSeconds),
        Setting(
            "clock_skew", ProviderReading.clockSkew,
            "How far a provider's clock may differ from this machine's; the default for every provider."
        ).at(\.clockSkewSeconds),
        ClientKeysReader.member,
        ProviderReader.member,
        ClientKeysReader.check,
        SenderConstraintReader.check,
        DPoPReader.member,
        DPoPReader.check,
        ResourceReader.member,
        ForwardAuthReader.member,
    ]
}

extension ValueType where Value == String {
    fileprivate static var hostName: Self {
        Self(expected: "a host name such as assay.internal, without a port", form: .text()) { text in
            text.isName(upTo: 253) ? text.lowercased() : nil
        } text: {
            $0
        }
    }
}

extension Settings {
    /// Start-up warnings about settings that are allowed but risky.
    package var warnings: [String] {
        Self.warnings("the service", service, apiKeys)
            + Self.warnings("the admin listener", admin, operatorKeys)
            + Self.guessableKeyWarnings("api_keys", apiKeys)
            + Self.guessableKeyWarnings("admin.api_keys", adminAPIKeys ?? [])
            + (tracing?.warnings ?? []) + (signIns?.warnings ?? []) + singleUseWarnings
            + bindingWarnings + proofWarnings + limits.warnings
            + providers.flatMap(\.warnings) + sharedRedirectURIWarnings + openPolicyWarnings
            + mistakableKindWarnings + serviceLinkWarnings
    }

    /// Warnings about providers whose IDs are those of an example. A service that starts with them verifies nobody's
    /// tokens, but tests and `assay dev` use them on purpose, so only `assay config check` shows them.
    package var exampleWarnings: [String] {
        providers.compactMap { provider in
            let examples = (provider.policy.audiences + [provider.policy.issuer]).filter(Self.isExample)
            guard !examples.isEmpty else { return nil }
            return "provider \(provider.policy.id): only an example: \(examples.joined(separator: ", ")); "
                + "set your own, or remove the provider"
        }
    }

    /// Whether a client ID or URL can belong to nobody (RFC 2606, section 3).
    private static func isExample(_ text: String) -> Bool {
        let host = text.split(separator: "://", maxSplits: 1).last?.prefix { $0 != "/" && $0 != ":" } ?? ""
        return text.hasPrefix("com.example.") || text.hasSuffix("-example.apps.googleusercontent.com")
            || host == "example.com" || host.hasSuffix(".example.com")
    }

    /// Without a shared store, each process has its own memory of used nonces.
    private var singleUseWarnings: [String] {
        guard (signIns?.store.url ?? .memory) == .memory else { return [] }
        return providers.filter(\.usesNoncesOnce).map { provider in
            "provider \(provider.policy.id): nonce.single_use with store memory: every process accepts a nonce once, "
                + "and again after a restart; with several instances, set sign_ins.store.url"
        }
    }

    /// Without a shared store, each process has its own memory of used proofs; without key files, its own nonces.
    private var proofWarnings: [String] {
        var warnings: [String] = []
        if remembersProofs, proofStore.url == .memory {
            warnings.append(
                "dpop with store memory: every process accepts a proof once, and again after a restart; with several instances, set dpop.store.url or sign_ins.store.url"
            )
        }
        if needsProofNonces, signIns?.keyFiles.isEmpty != false {
            warnings.append(
                "nonce: required for DPoP proofs without sign_ins.key_files: every process accepts only nonces of its own; with several instances, set sign_ins.key_files"
            )
        }
        if let dpop, dpop.store.url != signIns?.store.url { warnings += dpop.store.warnings("dpop.store") }
        return warnings
    }

    /// If providers share a redirect URI, a response without an issuer does not say which provider sent it (mix-up
    /// attack).
    private var sharedRedirectURIWarnings: [String] {
        let advice = "give each provider its own, so that one's response can't pass as the other's"
        let templates = providers.flatMap { provider in
            (provider.namedClients?.rules.redirectURIs ?? []).map { (text: $0, owner: provider.policy.id) }
        }
        var owners: [String: String] = [:]
        var warnings: [String] = []
        for provider in providers {
            let id = provider.policy.id
            for uri in provider.redirectURIs.sorted() {
                if let owner = owners[uri] {
                    warnings.append("the redirect URI \(uri) is listed for \(owner) and for \(id): \(advice)")
                } else {
                    owners[uri] = id
                }
                for template in templates
                where template.owner != id && NamedClientRules.isOfConnection(uri, template: template.text) {
                    warnings.append(
                        "the redirect URI \(uri) of \(id) is also that of a connection of \(template.owner): \(advice)")
                }
            }
        }
        return warnings
    }

    /// Anyone who can reach the listener can query such a policy, and learn whom a token identifies.
    private var openPolicyWarnings: [String] {
        guard !service.listen.isLocal, !service.asksForCertificates else { return [] }
        return forwardAuth.policies.filter { !$0.requiresKey }.map { policy in
            "forward_auth policy \(policy.id): answered without a key (require_key: false); let only the gateway reach the service listener"
        }
    }

    /// A gateway's request has no nonce that could tell an ID Token from an access token.
    private var mistakableKindWarnings: [String] {
        let mistakable = Set(providers.filter(\.couldMistakeAccessTokensForGateways).map(\.policy.id))
        return forwardAuth.policies.flatMap { policy in
            policy.providers.filter(mistakable.contains).map { provider in
                "forward_auth policy \(policy.id): an access token of \(provider) could pass as an ID Token, because nonces are not compared here; require a claim that only ID Tokens have (required_claims: one of \(ProviderSettings.claimsOfIDTokens))"
            }
        }
    }

    private var serviceLinkWarnings: [String] {
        guard !serviceLinks.isEmpty else { return [] }
        let names = serviceLinks.joined(separator: ", ")
        return [
            "environment variables ignored (Kubernetes sets them for Services whose names begin with assay; enableServiceLinks: false in the pod's spec turns them off): \(names)"
        ]
    }

    private static func guessableKeyWarnings(_ setting: String, _ keys: [APIKey]) -> [String] {
        keys.filter(\.isGuessable).map { key in
            "\(setting): \(key.name) is the digest of a key that is easy to guess; create another with assay api-key"
        }
    }

    private static func warnings(_ name: String, _ listener: Listener, _ keys: [APIKey]) -> [String] {
        guard !listener.listen.isLocal, !listener.asksForCertificates else { return [] }
        if keys.isEmpty { return ["\(name) is reachable from other machines without API key or client certificate"] }
        if listener.tls == nil {
            return ["\(name) is reachable from other machines without TLS: API keys can be read on the network"]
        }
        return []
    }
}
