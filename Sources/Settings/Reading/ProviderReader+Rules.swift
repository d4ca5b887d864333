internal import IDToken

extension ProviderReader {
    /// Reads the issuer, its other spellings, and which tenants and keys go with it.
    static func readIssuer(_ section: Section, _ policy: inout ProviderPolicy, _ usual: PresetDefaults) {
        if !section.isFaulty("issuer") {
            policy.issuer = section.text("issuer", default: policy.issuer, from: usual.preset)
        }
        let template = IssuerTemplate(policy.issuer)
        if template == nil, policy.issuer.contains(where: isBrace) {
            section.refuse("issuer", "an issuer that differs by tenant has just one claim in braces")
        }
        let alias = "an issuer, with the same claim in braces as the issuer, or none if that has none"
        let aliases = section.list("issuer_aliases", alias) { text in
            let isLikeIssuer = IssuerTemplate(text)?.claim == template?.claim
            return isLikeIssuer && !text.isEmpty && (template != nil || !text.contains(where: isBrace)) ? text : nil
        }
        policy.issuerAliases =
            aliases
            ?? section.otherwise(
                "issuer_aliases", policy.issuerAliases, shown: policy.issuerAliases, from: usual.preset)
        policy.tenants = tenants(section, policy.tenants, isTemplate: template != nil, usual)
        policy.keyIssuers =
            section.list("key_issuers", "an issuer with the name of a claim in braces", IssuerTemplate.init)
            ?? section.otherwise(
                "key_issuers", policy.keyIssuers, shown: policy.keyIssuers.map(\.text), from: usual.preset)
        if template == nil, !policy.keyIssuers.isEmpty {
            // Nothing would bind the claim that fills their braces to the token's issuer.
            section.refuse("issuer", "key_issuers need an issuer with a claim in braces; tenants can name the only one")
        }
    }

    /// Reads `tenants` or `excluded_tenants`.
    private static func tenants(
        _ section: Section, _ rule: TenantRule, isTemplate: Bool, _ usual: PresetDefaults
    ) -> TenantRule {
        let allowed = section.texts("tenants")
        let excluded = section.texts("excluded_tenants")
        guard isTemplate || (allowed == nil && excluded == nil) else {
            if !section.isFaulty("issuer") {
                section.refuse(
                    allowed == nil ? "excluded_tenants" : "tenants",
                    "tenants are told by an issuer with the name of a claim in braces, such as https://a.example/{tid}"
                )
            }
            return rule
        }
        switch (allowed, excluded) {
        case (nil, nil):
            switch rule {
            case .only(let tenants): section.otherwise("tenants", (), shown: tenants, from: usual.preset)
            case .any(let tenants): section.otherwise("excluded_tenants", (), shown: tenants, from: usual.preset)
            }
            return rule
        case (let tenants?, nil):
            if tenants.isEmpty { section.refuse("tenants", "tenants must name at least one") }
            return .only(tenants)
        case (nil, let tenants?):
            // What is excluded is excluded beside the preset's own, and opens no door that the preset keeps shut.
            guard case .any(let others) = rule else {
                section.refuse("excluded_tenants", "the preset names the only tenants that may sign in")
                return rule
            }
            return .any(except: section.addition("excluded_tenants", tenants, to: others, from: usual.preset) { $0 })
        case (_?, _?):
            section.refuse("tenants", "only one of tenants and excluded_tenants can say who may sign in")
            return rule
        }
    }

    /// Reads the client IDs that tokens are for, and the parties that may present them.
    static func readAudiences(_ section: Section, _ policy: inout ProviderPolicy, _ usual: PresetDefaults) {
        policy.trustedAudiences = section.texts("trusted_audiences") ?? []
        policy.authorizedParties = section.texts("authorized_parties") ?? []
        if section.isWord("none", "audiences") {
            // Such tokens are told by the party that they were issued to, or by nothing.
            if policy.authorizedParties.isEmpty, !section.isFaulty("authorized_parties") {
                section.refuse("audiences", "without audiences, authorized_parties must say what azp may be")
            }
            policy.audiences = []
            return
        }
        if let audiences = section.texts("audiences") {
            // An empty list is a slip.
            if audiences.isEmpty { section.refuse("audiences", "audiences must name at least one") }
            policy.audiences = audiences
        } else {
            section.otherwise("audiences", (), shown: policy.audiences, from: usual.preset)
        }
        if policy.audiences.isEmpty {
            section.refuseMissing(
                "audiences", "provider \(policy.id) needs audiences: the client IDs its tokens are for")
        }
    }

    /// Reads the claims that must be there beside the preset's: adding one must not lose another.
    static func readRequiredClaims(_ section: Section, _ policy: inout ProviderPolicy, _ usual: PresetDefaults) {
        if let names = section.list("required_claims", "the name of a claim", { ClaimName($0) }) {
            policy.requiredClaims = section.addition(
                "required_claims", names, to: policy.requiredClaims, from: usual.preset, text: \.string)
        } else {
            section.otherwise(
                "required_claims", (), shown: policy.requiredClaims.map(\.string), from: usual.preset)
        }
    }

    private static func isBrace(_ character: Character) -> Bool { character == "{" || character == "}" }

    /// Reads `claim_values`, `refused_claim_values` and `refused_claims`, claim by claim in place of the preset's own: adding a
    /// rule must not lose another. An empty list takes a rule of the preset's away.
    static func claimRules(
        _ section: Section, _ facts: ProviderFacts, preset: String, _ usual: PresetDefaults
    ) -> [ClaimRule] {
        var rules = facts.ownClaimRules
        if section.isWord("any", "claim_values") {
            if facts.callers == nil {
                section.refuse(
                    "claim_values",
                    "claim_values: any is for presets that demand a rule, and preset \(preset) demands none; leave it out"
                )
            }
        } else {
            rules = Self.rules(section, "claim_values", .oneOf, rules, usual)
            checkCallers(section, facts.callers, rules, preset: preset)
        }
        rules = Self.rules(section, "refused_claim_values", .noneOf, rules, usual)
        let own = rules.filter { $0.kind == .absent }.map(\.claim)
        guard let refused = section.list("refused_claims", "the name of a claim", claimPath) else {
            section.otherwise("refused_claims", (), shown: own.map(\.name.string), from: usual.preset)
            return rules
        }
        rules.removeAll { $0.kind == .absent }
        if refused.isEmpty { return rules }
        let all = section.addition("refused_claims", refused, to: own, from: usual.preset, text: \.name.string)
        return rules + all.map { ClaimRule($0, .absent, []) }
    }

    private static func claimPath(_ text: String) -> ClaimPath? { text.isEmpty ? nil : ClaimPath(text) }

    /// Anyone gets a token for any audience at some providers: there, the settings must say whose tokens are taken.
    private static func checkCallers(
        _ section: Section, _ callers: CallerRestriction?, _ rules: [ClaimRule], preset: String
    ) {
        guard let callers, !rules.contains(where: { $0.kind == .oneOf && callers.claims.contains($0.claim) }) else {
            return
        }
        let claims = callers.claims.map(\.name.string).joined(separator: ", ")
        let message =
            "preset \(preset) takes the tokens of \(callers.everyone) unless claim_values names one of \(claims); to take them all, write claim_values: any"
        if section.mentions("claim_values") {
            section.refuse("claim_values", message)
        } else {
            section.refuseMissing("claim_values", message)
        }
    }

    /// Reads `service_accounts`: which tokens programs get for themselves.
    static func serviceAccounts(
        _ section: Section, _ rule: ServiceAccountRule, _ usual: PresetDefaults
    ) -> ServiceAccountRule {
        var rule = rule
        rule.refusesOwnParty = section.bool(
            "refuse_azp_equal_to_sub", default: rule.refusesOwnParty,
            from: usual.origin(\.serviceAccounts.refusesOwnParty))
        rule.emailDomains = section.texts("refuse_email_domains", default: rule.emailDomains, from: usual.preset)
        section.finish()
        return rule
    }

    private static func rules(
        _ section: Section, _ name: String, _ kind: ClaimRule.Kind, _ given: [ClaimRule], _ usual: PresetDefaults
    ) -> [ClaimRule] {
        var rules = given
        let own = section.section(name)
        for rule in given where rule.kind == kind {
            own.otherwise(rule.claim.name.string, (), shown: rule.values, from: usual.preset)
        }
        for (claim, values) in section.namedTexts(name, "a value or a list of values") {
            let path = ClaimPath(claim)
            let index = rules.firstIndex { $0.claim == path && $0.kind == kind }
            if index == nil, values.isEmpty {
                section.refuse(name, "\(claim) must have at least one value")
            }
            if let index { rules.remove(at: index) }
            if !values.isEmpty { rules.insert(ClaimRule(path, kind, values), at: index ?? rules.endIndex) }
        }
        return rules
    }

    /// Reads `identity`: which claims fill which members, where not the usual ones do.
    ///
    /// `hosted_domain` and `transfer_subject` are filled only where a preset says that the provider has them, or a claim is
    /// named here; `none` empties them.
    static func readIdentity(_ section: Section, _ policy: inout ProviderPolicy, _ usual: PresetDefaults) {
        for member in IdentityMember.allCases {
            let isReported: WritableKeyPath<ProviderPolicy, Bool>? =
                switch member {
                case .hostedDomain: \.reportsHostedDomain
                case .transferSubject: \.reportsTransferSubject
                default: nil
                }
            guard let text = section.text(member.rawValue) else {
                let named = policy.identityClaims[member]?.name.string
                let isPresets = named != nil || isReported.map { policy[keyPath: $0] } == true
                section.otherwise(
                    member.rawValue, (),
                    shown: named ?? (isPresets || isReported == nil ? member.defaultClaim.string : "none"),
                    from: isPresets ? usual.preset : .standard)
                continue
            }
            // A member that is told to use its usual claim uses it as it always does.
            let isUsual = text == member.defaultClaim.string
            let isNone = isReported != nil && text == "none"
            if let isReported { policy[keyPath: isReported] = isUsual }
            policy.identityClaims[member] = isUsual || isNone ? nil : ClaimPath(text)
        }
        section.finish()
    }

    /// Reads `email`: what the provider's word on addresses is worth.
    static func email(_ section: Section, _ rule: EmailRule, _ usual: PresetDefaults) -> EmailRule {
        var rule = rule
        switch section.text("verified_claim") {
        case nil:
            section.otherwise(
                "verified_claim", (), shown: rule.verification.text, from: usual.origin(\.email.verification))
        case "none"?: rule.verification = .nothing
        case "email_verified"?: rule.verification = .emailVerified
        case let claim?: rule.verification = .claim(ClaimPath(claim))
        }
        rule.authoritativeDomains = section.texts(
            "authoritative_domains", default: rule.authoritativeDomains, from: usual.preset)
        rule.trustsHostedDomain = section.bool(
            "trust_hosted_domain", default: rule.trustsHostedDomain, from: usual.origin(\.email.trustsHostedDomain))
        section.finish()
        return rule
    }
}

extension EmailRule.Verification {
    /// The setting's value.
    fileprivate var text: String {
        switch self {
        case .emailVerified: "email_verified"
        case .claim(let path): path.name.string
        case .nothing: "none"
        }
    }
}

extension Section {
    /// A preset's list with the elements that the settings add to it, each once.
    ///
    /// - Parameter text: an element as the file says it.
    fileprivate func addition<Element: Equatable>(
        _ name: String, _ added: [Element], to given: [Element], from preset: EffectiveSettings.Origin,
        text: (Element) -> String
    ) -> [Element] {
        guard !given.isEmpty else { return added }
        let sum = given + added.filter { !given.contains($0) }
        let origin = reading.effective[path + [name]]?.origin ?? .standard
        record(name, .list(sum.map(text)), .both(preset, origin))
        return sum
    }
}
