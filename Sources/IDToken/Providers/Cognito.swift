private import JOSE

extension ProviderPreset {
    /// Amazon Cognito, one user pool.
    ///
    /// Access tokens are signed with the same keys; `token_use` tells them apart.
    /// - Source: docs.aws.amazon.com/cognito/latest/developerguide, "Verifying JSON web tokens" and "Understanding the
    ///   identity (ID) token".
    public static let cognito = ProviderPreset(
        name: "cognito", summary: "Amazon Cognito, one user pool", parameters: [.pool]
    ) { arguments in
        let pool = arguments[.pool]
        let region = pool.prefix { $0 != "_" }
        var facts = ProviderFacts(issuer: "https://cognito-idp.\(region).amazonaws.com/\(pool)")
        facts.policy.algorithms = [.rs256]
        facts.policy.claimRules = [ClaimRule(ClaimPath("token_use"), .oneOf, ["id"])]
        facts.policy.identityClaims = [.preferredUsername: ClaimPath("cognito:username")]
        // Access tokens name the user in another claim, and have an audience only if the app asked for one.
        facts.accessTokens = .jwt(
            AccessTokenDialect {
                $0.claimRules = [ClaimRule(ClaimPath("token_use"), .oneOf, ["access"])]
                $0.authorization.groups = ClaimPath("cognito:groups")
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let pool = PresetParameter(
        "pool", "the user pool's ID, such as eu-west-1_AbCdEfGhI", placeholder: "<region>_<id>"
    ) { text in
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isWord(String($0)) }
    }
}
