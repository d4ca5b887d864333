internal import HTTP
private import IDToken
private import OAuth
private import Verification

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
