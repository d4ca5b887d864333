private import JOSE

extension ProviderPreset {
    /// Login.gov. Its tokens identify the user by subject only; everything else is in UserInfo. Every request has a
    /// nonce.
    ///
    /// - Source: developers.login.gov/oidc; the production issuer is unsourced. The sandbox has another issuer.
    public static let loginGov = ProviderPreset(
        name: "login.gov", summary: "Login.gov; for the sandbox, set issuer", issuer: "https://secure.login.gov/"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.nonce.isRequired = true
    }
}
