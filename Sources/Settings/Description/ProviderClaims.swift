internal import IDToken

/// Rules for claims, and the claims that identities are read from.
extension ProviderReading {
    static let claimValues = rules(
        "claim_values", orWord: "any",
        "Values that claims must have: `{ token_use: [id], hd: example.com }`. A rule replaces the preset's for the same claim; an empty list removes it. `github-actions` and `kubernetes` require a rule, or the word `any`."
    )
    static let refusedClaimValues = rules(
        "refused_claim_values",
        "Values that claims must not have. A rule replaces the preset's for the same claim; an empty list removes it."
    )
    static let refusedClaims = Setting(
        "refused_claims",
        listOf: ValueType<ClaimPath>.claim,
        "Claims that must be absent, in addition to the preset's; an empty list removes the preset's.")

    private static func rules(_ name: String, orWord word: String? = nil, _ help: String) -> SettingDescription {
        let value = ValueForm.either(.text(), .boolean)
        let form = ValueForm.mapping(of: .either(value, .list(of: value)))
        return SettingDescription(
            name: name,
            expected: "a mapping of claims to a value or a list of values" + (word.map { ". Or `\($0)`" } ?? ""),
            form: word.map { .either(form, .words([$0])) } ?? form, help: help, defaultDescription: "the preset's")
    }

    /// Reads `claim_values`, `refused_claim_values` and `refused_claims`. A rule replaces the preset's rule for the
    /// same claim only, so adding one loses no other. An empty list removes the preset's rule.
    @Sendable static func readClaimRules(_ section: Section, _ provider: inout ProviderReading) {
        var rules = provider.facts.ownClaimRules
        defer { provider.policy.claimRules = rules }
        if section.isWord("any", claimValues.name) {
            section.refuse(
                claimValues.name, if: provider.facts.callers == nil,
                "claim_values: any is only for presets that require a rule; preset \(provider.preset.name) requires none; remove it"
            )
        } else {
            read(claimValues, .oneOf, section, &rules)
            checkCallers(section, provider, rules)
        }
        read(refusedClaimValues, .noneOf, section, &rules)
        let own = rules.filter { $0.kind == .absent }.map(\.claim)
        guard let refused = refusedClaims.read(section) else {
            section.recordPreset(refusedClaims, own)
            return
        }
        rules.removeAll { $0.kind == .absent }
        if refused.isEmpty { return }
        rules += section.addition(refusedClaims, refused, to: own).map { ClaimRule($0, .absent, []) }
    }

    private static func read(
        _ setting: SettingDescription, _ kind: ClaimRule.Kind, _ section: Section, _ rules: inout [ClaimRule]
    ) {
        let own = section.section(setting.name)
        for rule in rules where rule.kind == kind { own.record(rule.claim.name.string, .list(rule.values), own.preset) }
        for (claim, values) in section.namedTexts(setting.name) {
            let path = ClaimPath(claim)
            let index = rules.firstIndex { $0.claim == path && $0.kind == kind }
            section.refuse(setting.name, if: index == nil && values.isEmpty, "\(claim) must have at least one value")
            if let index { rules.remove(at: index) }
            if !values.isEmpty { rules.insert(ClaimRule(path, kind, values), at: index ?? rules.endIndex) }
        }
    }

    /// Some providers issue tokens to anyone, for any audience. Their settings must restrict whose tokens are accepted.
    private static func checkCallers(_ section: Section, _ provider: ProviderReading, _ rules: [ClaimRule]) {
        guard let callers = provider.facts.callers,
            !rules.contains(where: { $0.kind == .oneOf && callers.claims.contains($0.claim) })
        else { return }
        let claims = callers.claims.map(\.name.string).joined(separator: ", ")
        let message =
            "preset \(provider.preset.name) accepts tokens of \(callers.everyone): restrict one of \(claims) in claim_values, or accept all with claim_values: any"
        let isThere = section.mentions("claim_values")
        section.refuse("claim_values", if: isThere, message)
        section.refuseMissing("claim_values", if: !isThere, message)
    }

    /// Reads `identity`: the claims for members of the identity, if they differ from the standard ones.
    ///
    /// `hosted_domain` and `transfer_subject` are set only if a preset says that the provider has them, or if a claim
    /// is named here; `none` disables them.
    @Sendable static func readIdentity(_ parent: Section, _ provider: inout ProviderReading) {
        let section = parent.section("identity")
        for member in IdentityMember.allCases {
            let isReported = member.isReported
            guard let text = member.setting.read(section) else {
                let named = provider.policy.identityClaims[member]?.name.string
                let isPresets = named != nil || isReported.map { provider.policy[keyPath: $0] } == true
                let usual = isPresets || isReported == nil ? member.defaultClaim.string : "none"
                section.record(
                    member.rawValue, .scalar(named ?? usual), isPresets ? section.preset : .default)
                continue
            }
            // Naming the standard claim explicitly has no effect.
            let isUsual = text == member.defaultClaim.string
            let isNone = isReported != nil && text == "none"
            if let isReported { provider.policy[keyPath: isReported] = isUsual }
            provider.policy.identityClaims[member] = isUsual || isNone ? nil : ClaimPath(text)
        }
        section.finish()
    }
}

extension IdentityMember {
    var setting: Setting<String> {
        Setting(
            rawValue, .text,
            isReported == nil
                ? "The claim that supplies `identity.\(rawValue)`."
                : "The claim that supplies `identity.\(rawValue)`; `none` leaves it `null`.")
    }

    /// The flag for providers that have the standard claim; `nil` if the claim is not specific to some providers.
    fileprivate var isReported: WritableKeyPath<ProviderPolicy, Bool>? {
        switch self {
        case .hostedDomain: \.reportsHostedDomain
        case .transferSubject: \.reportsTransferSubject
        default: nil
        }
    }
}
