package import HTTP
private import IDToken
private import OAuth
package import Verification

/// All settings, validated.
package struct Settings: Sendable {
    package var service = Listener(.network(host: "127.0.0.1", port: 8080))
    package var admin = Listener(.network(host: "127.0.0.1", port: 9090))
    /// Whether a listener that other machines can reach may be open to all callers.
    package var allowsInsecureListen = false
    package var limits = Limits()
    package var keys = Keys()
    package var log = Log()
    /// `nil`: tracing is disabled.
    package var tracing: Tracing?
    /// `nil`: sign-ins are disabled.
    package var signIns: SignIns?
    package var forwardAuth = ForwardAuthSettings()
    /// Where key sets are archived for the next start; `nil`: they are not.
    package var cacheDirectory: String?
    /// How many verified tokens to cache; 0 disables the cache.
    package var verifiedTokenCacheEntries = 10_000
    /// API keys for the service listener. If empty, none is required.
    package var apiKeys: [APIKey] = []
    /// API keys for the admin listener; `nil`: the same keys as for the service listener.
    package var adminAPIKeys: [APIKey]?
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
    package var serviceLinks: [String] = []
    /// Every file that the settings name and, if they are from one, their own.
    package var files: [NamedFile] = []

    package init() {}

    package struct Limits: Sendable, Equatable {
        /// Limits of the service listener.
        package var listener = ListenerLimits()
        package var maximumBody = 64 * 1024
        package var maximumBatchBody = 4 * 1024 * 1024
        package var keysTimeoutSeconds: Int64 = 5
        package var providerTimeoutSeconds: Int64 = 5
        package var queueTimeoutMilliseconds: Int64 = 500
        /// Which of the limits that depend on memory are set explicitly.
        var given: Set<ListenerLimit> = []
    }

    package struct Keys: Sendable, Equatable {
        package var staleIfErrorSeconds: Int64 = 24 * 3600
    }

    package struct Log: Sendable, Equatable {
        package var level = "info"
        package var requests = Requests.all
        /// Whether successful probes and scrapes (`/livez`, `/readyz`, `/metrics`) are logged.
        package var probes = false

        package static let levels = ["debug", "info", "warning", "error"]

        /// Which requests are logged.
        package enum Requests: String, Sendable, CaseIterable {
            case all = "true"
            case none = "false"
            case refused
        }
    }

    /// API keys for the admin listener. If empty, none is required.
    package var operatorKeys: [APIKey] { adminAPIKeys ?? apiKeys }

    /// Start-up warnings about settings that are allowed but risky.
    package var warnings: [String] {
        Self.warnings("the service", service, apiKeys)
            + Self.warnings("the admin listener", admin, operatorKeys)
            + Self.guessableKeyWarnings("api_keys", apiKeys)
            + Self.guessableKeyWarnings("admin.api_keys", adminAPIKeys ?? [])
            + (tracing?.warnings ?? []) + (signIns?.warnings ?? []) + singleUseWarnings
            + providers.flatMap(\.warnings) + sharedRedirectURIWarnings + openPolicyWarnings
            + mistakableKindWarnings + serviceLinkWarnings
    }

    /// Without a shared store, each process has its own memory of used nonces.
    private var singleUseWarnings: [String] {
        guard (signIns?.store.url ?? .memory) == .memory else { return [] }
        return providers.filter(\.usesNoncesOnce).map { provider in
            "provider \(provider.policy.id): nonce.single_use with store memory: every process accepts a nonce once, "
                + "and again after a restart; with several instances, set sign_ins.store.url"
        }
    }

    /// If providers share a redirect URI, a response without an issuer does not say which provider sent it (mix-up
    /// attack).
    private var sharedRedirectURIWarnings: [String] {
        var owners: [String: String] = [:]
        var warnings: [String] = []
        for provider in providers {
            for uri in Set(provider.clients.flatMap(\.client.redirectURIs)).sorted() {
                if let owner = owners[uri] {
                    warnings.append(
                        "the redirect URI \(uri) is listed for \(owner) and for \(provider.policy.id): give each provider its own, so that one's response can't pass as the other's"
                    )
                } else {
                    owners[uri] = provider.policy.id
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
        let mistakable = providers.filter(\.couldMistakeAccessTokensForGateways).map(\.policy.id)
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
