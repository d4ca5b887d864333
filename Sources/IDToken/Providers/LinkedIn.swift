extension ProviderPreset {
    /// Sign in with LinkedIn using OpenID Connect. LinkedIn does not echo the nonce.
    ///
    /// - Source: learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2; the issuer
    ///   since April 2024 from github.com/keycloak/keycloak, issue 28686; the nonce from github.com/directus/directus,
    ///   issue 23645; the token type from the example of a token response on learn.microsoft.com/linkedin/shared/
    ///   authentication/authorization-code-flow.
    public static let linkedIn = ProviderPreset(
        name: "linkedin", summary: "Sign in with LinkedIn, which echoes no nonce",
        issuer: "https://www.linkedin.com/oauth"
    ) { facts in
        facts.policy.nonce.isChecked = false
        // Its token endpoint answers a code_verifier with an error.
        facts.usesPKCE = false
        facts.quirks = [.noTokenType]
    }
}
