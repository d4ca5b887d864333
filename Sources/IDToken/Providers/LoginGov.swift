private import JOSE

extension ProviderPreset {
    /// Login.gov. Its tokens say nothing of the user but the subject; the rest is in UserInfo. Every request has a nonce.
    ///
    /// - Source: developers.login.gov/oidc; the issuer in production is unsourced. The sandbox has another.
    public static let loginGov = ProviderPreset(
        name: "login.gov", summary: "Login.gov; the sandbox by its issuer", issuer: "https://secure.login.gov/"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.nonce.isRequired = true
    }
}
