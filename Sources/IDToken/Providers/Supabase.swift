private import JOSE

extension ProviderPreset {
    /// Supabase Auth, one project with asymmetric signing keys. Its access tokens identify the user.
    ///
    /// Projects that use the legacy shared secret sign with HS256 and publish no keys.
    /// - Source: supabase.com/docs/guides/auth/signing-keys, /jwts and /oauth-server/token-security.
    public static let supabase = ProviderPreset(
        name: "supabase", summary: "Supabase Auth, one project with signing keys", parameters: [.supabaseProject]
    ) { arguments in
        let issuer = "https://\(arguments[.supabaseProject]).supabase.co/auth/v1"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/.well-known/jwks.json")
        facts.policy.audiences = ["authenticated"]
        facts.accessTokens = .jwt(.supabase)
        facts.policy.algorithms = [.es256, .rs256]
        // Supabase's own SDK performs the sign-in, and its tokens have no nonce.
        facts.policy.issuesTokensOfSignIns = false
        // The project's OAuth server issues tokens with the same audience to third-party apps. Only those have this
        // claim.
        facts.policy.claimRules = [ClaimRule(ClaimPath("client_id"), .absent, [])]
        return facts
    }
}

extension AccessTokenDialect {
    fileprivate static var supabase: AccessTokenDialect {
        var dialect = singleKind
        dialect.authorization.roles = ClaimPath("role")
        return dialect
    }
}

extension PresetParameter {
    fileprivate static let supabaseProject = word("project", "the project's reference, the first part of its host name")
}
