internal import HTTP
internal import IDToken
internal import Keys
internal import Verification

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
            section.refuse(
                allowed == nil ? "excluded_tenants" : "tenants", if: !section.isFaulty("issuer"),
                "tenants needs a tenant claim in issuer, such as https://a.example/{tid}")
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
        section.refuse(
            "audiences", if: provider.accessTokens?.loadBalancer != nil,
            "a load balancer's assertions have no aud, and name their client in the header; remove audiences")
        section.refuseMissing(
            "audiences", if: provider.policy.audiences.isEmpty && !provider.hasManyIssuers,
            "provider \(provider.policy.id) needs audiences: your client IDs there")
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

/// Entries with many issuers: a list, in the settings or in a file of its own, or any that a request names.
extension ProviderReading {
    static let issuers = Setting(
        "issuers", listOf: .text, orWord: anyIssuer, defaultDescription: "the entry has one `issuer`",
        "Several issuers with the same rules, instead of `issuer`; or `any`: each request names its own, as `connection`, `issuer` and `audience`. Their keys are fetched when requests need them."
    )
    static let issuersFile = Setting(
        "issuers_file", .file(.issuers), defaultDescription: "the entry has one `issuer`",
        "A file with several issuers, instead of `issuer`, watched for changes. Each line: `issuer audience [audience …] [@domain …]`; `-` as the only audience stands for `audiences`, and `@example.com` is a domain about whose addresses the issuer may be believed. `#` begins a remark."
    )
    static let maximumIssuers = Setting(
        "max_issuers", .integer(1...1_000_000), defaultDescription: "`10000`; `1000` for `issuers: any`",
        "The most issuers of this entry whose keys are kept. Beyond it, the one used longest ago loses them, and they are fetched again when needed."
    )
    private static let anyIssuer = "any"

    /// The settings that an entry with many issuers can't have: they are about one.
    private static let ofOneIssuer = [
        "issuer", "issuer_aliases", "tenants", "excluded_tenants", "key_issuers", "discovery_url", "discovery_issuer",
        "jwks_uri", "certificates_uri", "public_key_uri", "jwks_file",
    ]

    /// Whether a section is about an entry with many issuers.
    static func hasMany(_ section: Section) -> Bool {
        section.mentions(issuers.name) || section.source(issuers.name) != nil || section.source(issuersFile.name) != nil
    }

    /// Reads the issuers of an entry with many. Must come after the settings for network access and audiences.
    @Sendable static func readIssuers(_ section: Section, _ provider: inout ProviderReading) {
        guard provider.hasManyIssuers else {
            for name in [issuers.name, issuersFile.name] { section.record(name, nil, .default) }
            section.refuse(
                maximumIssuers.name, if: maximumIssuers.read(section) != nil,
                "max_issuers is only for entries with issuers or issuers_file; remove it")
            return
        }
        section.refuse(ofOneIssuer, "is about one issuer; remove it, or issuers and issuers_file")
        provider.network.isOfManyIssuers = true
        // More than any provider is known to have, and little enough for thousands of issuers.
        provider.network.maximumBody = 256 * 1024
        provider.network.maximumKeys = 100
        provider.keys = .issuers(
            DiscoveryRules(
                readDiscoveryKind(section, provider, isLocated: false),
                isOfAccessTokens: provider.accessTokens != nil, namesAlgorithms: provider.policy.algorithms != nil))
        if section.isWord(anyIssuer, issuers.name) {
            readAnyIssuer(section, &provider)
        } else {
            readList(section, &provider)
        }
        let usual = provider.issuers?.isOpen == true ? 1000 : 10_000
        provider.maximumIssuers = section.given(maximumIssuers.read(section), maximumIssuers, else: usual)
    }

    private static func readAnyIssuer(_ section: Section, _ provider: inout ProviderReading) {
        provider.network.requiresDefaultPort = true
        provider.network.maximumRedirects = 0
        section.refuse(
            issuersFile.name, if: section.source(issuersFile.name) != nil, "set issuers: any or issuers_file, not both")
        section.refuse(
            "audiences", if: section.source("audiences") != nil,
            "audiences has no effect with issuers: any, where each request names its audience; remove it")
        section.refuse(
            "tokens", if: provider.accessTokens != nil,
            "an entry with issuers: any verifies ID Tokens only: whoever may choose the issuer chooses who they are; remove tokens, or list the issuers"
        )
        // The other entries are not known yet.
        provider.issuers = .any(OpenIssuerRules(network: provider.network, others: [], listed: []))
    }

    private static func readList(_ section: Section, _ provider: inout ProviderReading) {
        let listed = issuers.read(section)
        let file = issuersFile.read(section)
        if section.source(issuers.name, keepsNull: true) != nil, section.source(issuersFile.name) != nil {
            section.refuse(issuersFile.name, "set issuers or issuers_file, not both")
        }
        var list = IssuerList([])
        if let listed {
            list = Self.list(of: listed, section, provider.network)
        } else if let file {
            if let read = Self.list(inFile: file, section, provider.network) {
                (list, provider.issuersFile) = read
            }
        }
        provider.issuers = .listed(list)
        if provider.policy.audiences.isEmpty, provider.policy.authorizedParties.isEmpty, list.usesEntryAudiences,
            !section.isFaulty("audiences")
        {
            section.refuseMissing(
                "audiences",
                "provider \(provider.policy.id) needs audiences: your client IDs at the issuers whose own are not listed"
            )
        }
        section.refuse(
            "clients", if: section.mentions("clients"),
            "an entry with a list of issuers has no clients; remove them, or add an entry for the issuer")
    }

    private static func list(of issuers: [String], _ section: Section, _ network: NetworkRules) -> IssuerList {
        var seen: Set<[UInt8]> = []
        for issuer in issuers {
            if let refusal = network.refusal(ofIssuer: issuer) {
                section.refuse(Self.issuers.name, "issuers: \(ErrorValueText.of(issuer)): \(refusal)")
            }
            if !seen.insert(Array(issuer.utf8)).inserted {
                section.refuse(Self.issuers.name, "issuers: \(ErrorValueText.of(issuer)) is listed twice; remove one")
            }
        }
        return IssuerList(
            issuers.enumerated().map { ($1, IssuerList.Line(number: $0 + 1, audiences: nil, domains: [])) })
    }

    /// In bytes.
    static let maximumListSize = 32 * 1024 * 1024

    /// - Returns: `nil` if an error was reported.
    private static func list(
        inFile path: String, _ section: Section, _ network: NetworkRules
    ) -> (IssuerList, IssuersFile)? {
        do throws(SmallFile.Failure) {
            let file = try SmallFile(path: path, maximumSize: maximumListSize, followingLinks: true)
            do throws(IssuerList.Fault) {
                let list = try IssuerList(reading: file.bytes, refusing: network.refusal(ofIssuer:))
                return (list, IssuersFile(path: path, version: file.version))
            } catch {
                section.refuse(issuersFile.name, "issuers_file: \(path): line \(error.line): \(error.reason)")
            }
        } catch {
            section.refuse(issuersFile.name, "issuers_file: \(path): \(error.text(maximumSize: maximumListSize))")
        }
        return nil
    }
}
