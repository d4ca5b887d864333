internal import IDToken

/// Issuer, tenants, audiences and required claims.
extension ProviderReading {
    static let issuer = Setting(
        "issuer", .text, defaultDescription: "the preset's",
        "The issuer exactly as in its tokens; responses have it as `identity.issuer`. `{tid}` in it stands for the claim `tid`."
    )
    static let issuerAliases = Setting(
        "issuer_aliases", listOf: aliasType(of: nil), defaultDescription: "the preset's",
        "Other spellings of the issuer.")
    static let tenants = Setting(
        "tenants", listOf: .text, refusesEmpty: "must name at least one", defaultDescription: "the preset's, else any",
        "The accepted values of the claim in the issuer's braces.")
    static let excludedTenants = Setting(
        "excluded_tenants", listOf: .text, defaultDescription: "the preset's",
        "Refused values of the claim in the issuer's braces, in addition to the preset's.")
    static let keyIssuers = Setting(
        "key_issuers",
        listOf: ValueType(
            expected: "an issuer with the name of a claim in braces", form: .text(pattern: "\\{.+\\}"),
            parse: IssuerTemplate.init, text: \.text), defaultDescription: "the preset's, else not checked",
        "Accepted values of a JWK's `issuer` member.")
    static let audiences = Setting(
        "audiences", listOf: .text, refusesEmpty: "must name at least one", orWord: "none",
        defaultDescription: "required, unless the preset knows them",
        "Your client IDs: the token's `aud` must contain one. `none` is for tokens without `aud`, and requires `authorized_parties`, or, for opaque tokens, `required_scopes`."
    )
    static let requiredClaims = Setting(
        "required_claims",
        listOf: ValueType<ClaimName>(
            expected: "the name of a claim", form: .text(), parse: { ClaimName($0) }, text: \.string),
        "Claims that must be present, in addition to the preset's.")

    private static func aliasType(of template: IssuerTemplate?) -> ValueType<String> {
        .text("an issuer with the same claim in braces as issuer, or with none if issuer has none") { text in
            let isLikeIssuer = IssuerTemplate(text)?.claim == template?.claim
            return isLikeIssuer && !text.isEmpty && (template != nil || !text.contains(where: isBrace))
        }
    }

    private static func isBrace(_ character: Character) -> Bool { character == "{" || character == "}" }

    /// Reads the issuer, its aliases, the accepted tenants, and the accepted issuers of keys.
    @Sendable static func readIssuer(_ section: Section, _ provider: inout ProviderReading) {
        guard !provider.hasManyIssuers else { return }
        if !section.isFaulty("issuer") { section.read(issuer, &provider.policy.issuer) }
        if let known = ProviderPreset.issuer(besides: provider.policy.issuer) {
            section.refuse(
                "issuer",
                "no token has the issuer \(provider.policy.issuer): it is \(known), byte for byte; correct the slash at the end"
            )
        }
        let template = IssuerTemplate(provider.policy.issuer)
        if template == nil, provider.policy.issuer.contains(where: isBrace) {
            section.refuse("issuer", "issuer must have exactly one claim in braces, such as {tid}")
        }
        let aliases = Setting(issuerAliases.name, listOf: aliasType(of: template), issuerAliases.description.help)
        section.read(aliases, &provider.policy.issuerAliases)
        readTenants(section, &provider, isTemplate: template != nil)
        section.read(keyIssuers, &provider.policy.keyIssuers)
        if template == nil, !provider.policy.keyIssuers.isEmpty {
            // Otherwise, nothing would tie the tenant in a key's issuer to the token's issuer.
            section.refuse(
                "issuer",
                "key_issuers needs a tenant claim in issuer, such as {tid}; for one tenant, list it in tenants")
        }
    }

    /// Reads `tenants` or `excluded_tenants`.
    private static func readTenants(_ section: Section, _ provider: inout ProviderReading, isTemplate: Bool) {
        let allowed = tenants.read(section)
        let excluded = excludedTenants.read(section)
        if let parameter = provider.preset.parameters.first(where: { $0.name == "tenant" }) {
            for (name, values) in [(tenants.name, allowed), (excludedTenants.name, excluded)] {
                for value in values ?? [] {
                    guard let advice = parameter.advice(value) else { continue }
                    section.refuse(name, "\(name): \(ErrorValueText.of(value)): \(advice)")
                }
            }
        }
        guard isTemplate || (allowed == nil && excluded == nil) else {
            if !section.isFaulty("issuer") {
                section.refuse(
                    allowed == nil ? "excluded_tenants" : "tenants",
                    "tenants needs a tenant claim in issuer, such as https://a.example/{tid}"
                )
            }
            return
        }
        switch (allowed, excluded) {
        case (nil, nil):
            switch provider.policy.tenants {
            case .only(let own): section.recordPreset(tenants, own)
            case .any(let own): section.recordPreset(excludedTenants, own)
            }
        case (let allowed?, nil): provider.policy.tenants = .only(allowed)
        case (nil, let excluded?):
            // Adds to the preset's exclusions; a setting can't remove them.
            guard case .any(let own) = provider.policy.tenants else {
                section.refuse(
                    "excluded_tenants",
                    "excluded_tenants has no effect: the preset lists the allowed tenants; remove it, or set tenants")
                return
            }
            provider.policy.tenants = .any(except: section.addition(excludedTenants, excluded, to: own))
        case (_?, _?):
            section.refuse("tenants", "set tenants or excluded_tenants, not both")
        }
    }

    /// Reads the accepted audiences. Must come after `authorized_parties`.
    @Sendable static func readAudiences(_ section: Section, _ provider: inout ProviderReading) {
        if provider.accessTokens?.loadBalancer != nil, !section.mentions("audiences") {
            return section.recordPreset(audiences, [])
        }
        let hasKeysOfOneClient = provider.accessTokens?.hasKeysOfOneClient == true
        if hasKeysOfOneClient, section.source("audiences", keepsNull: true) == nil {
            // Its keys, which no other client has, tie a token to the relying party.
            return section.record("audiences", .scalar("none"), section.preset)
        }
        if section.isWord("none", "audiences") {
            // Without audiences, only the authorized party ties a token to the relying party.
            if !hasKeysOfOneClient, provider.policy.authorizedParties.isEmpty,
                provider.accessTokens?.requiredScopes.isEmpty ?? true,
                !section.isFaulty("authorized_parties"), !section.isFaulty(requiredScopes.name)
            {
                section.refuse(
                    "audiences",
                    provider.introspection == nil
                        ? "audiences: none needs authorized_parties"
                        : "audiences: none needs authorized_parties or required_scopes: otherwise, tokens for every API would pass"
                )
            }
            provider.policy.audiences = []
            return
        }
        section.read(audiences, &provider.policy.audiences)
        if provider.accessTokens?.loadBalancer != nil {
            section.refuse(
                "audiences",
                "a load balancer's assertions have no aud, and name their client in the header; remove audiences"
            )
        }
        if provider.policy.audiences.isEmpty, !provider.hasManyIssuers {
            section.refuseMissing(
                "audiences", "provider \(provider.policy.id) needs audiences: your client IDs there")
        }
    }

    /// Reads required claims and adds them to the preset's, so that adding one loses no other.
    @Sendable static func readRequiredClaims(_ section: Section, _ provider: inout ProviderReading) {
        let own = provider.policy.requiredClaims
        section.read(requiredClaims, &provider.policy.requiredClaims)
        if section.source("required_claims") != nil, !section.isFaulty("required_claims") {
            provider.policy.requiredClaims = section.addition(requiredClaims, provider.policy.requiredClaims, to: own)
        }
    }
}

extension Section {
    /// Reads a setting that overrides the preset's value.
    fileprivate func read<Value>(_ setting: Setting<Value>, _ value: inout Value) {
        if let found = setting.read(self) { value = found } else { record(setting.name, setting.shown(value), preset) }
    }

    /// A preset's list, extended by elements from the settings, without duplicates.
    func addition<Element: Equatable>(
        _ setting: Setting<[Element]>, _ added: [Element], to own: [Element]
    ) -> [Element] {
        guard !own.isEmpty else { return added }
        let sum = own + added.filter { !own.contains($0) }
        record(setting.name, setting.shown(sum), .both(preset, effective(setting.name)?.origin ?? .default))
        return sum
    }
}
