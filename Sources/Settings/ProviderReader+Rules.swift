internal import IDToken

extension ProviderReader {
    /// Reads the issuer, its other spellings, and which tenants and keys go with it.
    static func readIssuer(_ section: Section, _ policy: inout ProviderPolicy) throws(SettingsError) {
        policy.issuer = try section.text("issuer") ?? policy.issuer
        let template = IssuerTemplate(policy.issuer)
        guard template != nil || !policy.issuer.contains(where: isBrace) else {
            throw section.error("issuer", "an issuer that differs by tenant has just one claim in braces")
        }
        let alias = "an issuer, with the same claim in braces as the issuer, or none if that has none"
        policy.issuerAliases =
            try section.list("issuer_aliases", alias) { text in
                let isLikeIssuer = IssuerTemplate(text)?.claim == template?.claim
                return isLikeIssuer && !text.isEmpty && (template != nil || !text.contains(where: isBrace)) ? text : nil
            } ?? policy.issuerAliases
        policy.tenants = try tenants(section, policy.tenants, isTemplate: template != nil)
        policy.keyIssuers =
            try section.list("key_issuers", "an issuer with the name of a claim in braces", IssuerTemplate.init)
            ?? policy.keyIssuers
        guard template != nil || policy.keyIssuers.isEmpty else {
            // Nothing would bind the claim that fills their braces to the token's issuer.
            throw section.error(
                "issuer", "key_issuers need an issuer with a claim in braces; tenants can name the only one")
        }
    }

    /// Reads `tenants` or `excluded_tenants`.
    private static func tenants(
        _ section: Section, _ usual: TenantRule, isTemplate: Bool
    ) throws(SettingsError) -> TenantRule {
        let allowed = try section.texts("tenants")
        let excluded = try section.texts("excluded_tenants")
        guard isTemplate || (allowed == nil && excluded == nil) else {
            throw section.error(
                allowed == nil ? "excluded_tenants" : "tenants",
                "tenants are told by an issuer with the name of a claim in braces, such as https://a.example/{tid}")
        }
        switch (allowed, excluded) {
        case (nil, nil): return usual
        case (let tenants?, nil):
            guard !tenants.isEmpty else { throw section.error("tenants", "tenants must name at least one") }
            return .only(tenants)
        case (nil, let tenants?):
            // What is excluded is excluded beside the preset's own, and opens no door that the preset keeps shut.
            guard case .any(let others) = usual else {
                throw section.error("excluded_tenants", "the preset names the only tenants that may sign in")
            }
            return .any(except: others + tenants)
        case (_?, _?):
            throw section.error("tenants", "only one of tenants and excluded_tenants can say who may sign in")
        }
    }

    /// Reads whom tokens are for, and who may present them.
    static func readAudiences(_ section: Section, _ policy: inout ProviderPolicy) throws(SettingsError) {
        policy.trustedAudiences = try section.texts("trusted_audiences") ?? []
        policy.authorizedParties = try section.texts("authorized_parties") ?? []
        if section.isWord("none", "audiences") {
            // Such tokens are told by the party that they were issued to, or by nothing.
            guard !policy.authorizedParties.isEmpty else {
                throw section.error("audiences", "without audiences, authorized_parties must say what azp may be")
            }
            policy.audiences = []
            return
        }
        if let audiences = try section.texts("audiences") {
            // Who writes the list and puts nothing in it has forgotten something.
            guard !audiences.isEmpty else { throw section.error("audiences", "audiences must name at least one") }
            policy.audiences = audiences
        }
        guard !policy.audiences.isEmpty else {
            throw section.error(
                "audiences", "provider \(policy.id) needs audiences: the client IDs its tokens are for")
        }
    }

    private static func isBrace(_ character: Character) -> Bool { character == "{" || character == "}" }

    /// Reads `claim_values`, `refused_claim_values` and `refused_claims`, claim by claim in place of the preset's own: whoever
    /// adds a rule must not lose another by it. An empty list takes a rule of the preset's away.
    static func claimRules(
        _ section: Section, _ facts: ProviderFacts, preset: String
    ) throws(SettingsError) -> [ClaimRule] {
        var rules = facts.ownClaimRules
        if section.isWord("any", "claim_values") {
            guard facts.callers != nil else {
                throw section.error(
                    "claim_values",
                    "claim_values: any is for presets that demand a rule, and preset \(preset) demands none; leave it out"
                )
            }
        } else {
            rules = try Self.rules(section, "claim_values", .oneOf, rules)
            try checkCallers(section, facts.callers, rules, preset: preset)
        }
        rules = try Self.rules(section, "refused_claim_values", .noneOf, rules)
        guard let refused = try section.list("refused_claims", "the name of a claim", claimPath) else { return rules }
        if refused.isEmpty { rules.removeAll { $0.kind == .absent } }
        return rules + refused.map { ClaimRule($0, .absent, []) }
    }

    private static func claimPath(_ text: String) -> ClaimPath? { text.isEmpty ? nil : ClaimPath(text) }

    /// Anyone gets a token for any audience at some providers: there, the settings must say whose tokens are taken.
    private static func checkCallers(
        _ section: Section, _ callers: CallerRestriction?, _ rules: [ClaimRule], preset: String
    ) throws(SettingsError) {
        guard let callers, !rules.contains(where: { $0.kind == .oneOf && callers.claims.contains($0.claim) }) else {
            return
        }
        let claims = callers.claims.map(\.name.string).joined(separator: ", ")
        throw section.error(
            "claim_values",
            "preset \(preset) takes the tokens of \(callers.everyone) unless claim_values names one of \(claims); to take them all, write claim_values: any"
        )
    }

    /// Reads `service_accounts`: which tokens programs get for themselves.
    static func serviceAccounts(
        _ section: Section, _ usual: ServiceAccountRule
    ) throws(SettingsError) -> ServiceAccountRule {
        var rule = usual
        rule.refusesOwnParty = try section.bool("refuse_azp_equal_to_sub") ?? rule.refusesOwnParty
        rule.emailDomains = try section.texts("refuse_email_domains") ?? rule.emailDomains
        try section.finish()
        return rule
    }

    private static func rules(
        _ section: Section, _ name: String, _ kind: ClaimRule.Kind, _ usual: [ClaimRule]
    ) throws(SettingsError) -> [ClaimRule] {
        var rules = usual
        for (claim, values) in try section.namedTexts(name, "a value or a list of values") ?? [] {
            let path = ClaimPath(claim)
            let index = rules.firstIndex { $0.claim == path && $0.kind == kind }
            guard index != nil || !values.isEmpty else {
                throw section.error(name, "\(claim) must have at least one value")
            }
            if let index { rules.remove(at: index) }
            if !values.isEmpty { rules.insert(ClaimRule(path, kind, values), at: index ?? rules.endIndex) }
        }
        return rules
    }

    /// Reads `identity`: which claims fill which members, where not the usual ones do.
    static func identityClaims(
        _ section: Section, _ usual: [IdentityMember: ClaimPath]
    ) throws(SettingsError) -> [IdentityMember: ClaimPath] {
        var claims = usual
        for member in IdentityMember.allCases {
            guard let path = try section.text(member.rawValue).map(ClaimPath.init) else { continue }
            // A member that is told to use its usual claim uses it as it always does.
            claims[member] = path == ClaimPath(member.usualClaim.string) ? nil : path
        }
        try section.finish()
        return claims
    }

    /// Reads `email`: what the provider's word on addresses is worth.
    static func email(_ section: Section, _ usual: EmailRule) throws(SettingsError) -> EmailRule {
        var rule = usual
        switch try section.text("verified_claim") {
        case nil: break
        case "none"?: rule.verification = .nothing
        case "email_verified"?: rule.verification = .emailVerified
        case let claim?: rule.verification = .claim(ClaimPath(claim))
        }
        rule.authoritativeDomains = try section.texts("authoritative_domains") ?? rule.authoritativeDomains
        rule.trustsHostedDomain = try section.bool("trust_hosted_domain") ?? rule.trustsHostedDomain
        try section.finish()
        return rule
    }
}
