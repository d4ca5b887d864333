private import JOSE

extension ProviderPreset {
    /// Supabase Auth, one project with asymmetric signing keys: its access tokens, which say who signed in.
    ///
    /// Projects on the old shared secret sign with HS256 and publish no key.
    /// - Source: supabase.com/docs/guides/auth/signing-keys, /jwts and /oauth-server/token-security.
    public static let supabase = ProviderPreset(
        name: "supabase", summary: "Supabase Auth, one project with signing keys", parameters: [.supabaseProject]
    ) { arguments in
        let issuer = "https://\(arguments[.supabaseProject]).supabase.co/auth/v1"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/.well-known/jwks.json")
        facts.policy.audiences = ["authenticated"]
        facts.policy.algorithms = [.es256, .rs256]
        // Its own SDK signs in; its tokens have no nonce.
        facts.policy.issuesTokensOfSignIns = false
        // The project's OAuth server gives other apps tokens of the same audience, to act for a user; this claim names the app.
        facts.policy.claimRules = [ClaimRule(ClaimPath("client_id"), .absent, [])]
        return facts
    }
}

extension PresetParameter {
    fileprivate static let supabaseProject = word("project", "the project's reference, the first part of its host name")
}
