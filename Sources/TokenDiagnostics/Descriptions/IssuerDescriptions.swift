internal import IDToken
private import JOSE

extension CheckDescriptions {
    /// Whether the token is from the provider whose keys verified it.
    func issuer(_ rejection: Rejection?) -> Check {
        let issuer = claims.text(.issuer)
        return made(
            .issuer, rejection, passed: "The token's iss is the provider's.",
            failed: .otherIssuer(
                issuer ?? "", claims, [policy], others: others, isAccessToken: kind.isAccessToken),
            expected: policy.acceptedIssuersText, found: issuer.map(Redaction.text))
    }

    /// Whether the key may sign for the token's issuer; only if keys name an issuer.
    func keyIssuer(_ rejection: Rejection?) -> Check {
        made(
            .keyIssuer, rejection, passed: "The key may sign for this tenant.",
            failed: Diagnosis(
                "The key that signed the token may only sign for another tenant.",
                fix:
                    "Do not accept the token. If the provider publishes its keys this way on purpose, change key_issuers of the provider \(policy.id)."
            ), expected: Redaction.list(policy.keyIssuers.map(\.text)),
            found: jws?.keyIssuer.map(Redaction.text)
        )
    }
}

extension Check {
    static func provider(_ policy: ProviderPolicy, isNamed: Bool) -> Check {
        .passed(
            .provider,
            isNamed ? "The request names the provider." : "The token's iss names the provider.", found: policy.id)
    }

    static func providerUnknown(
        _ token: UnverifiedToken, _ policies: [ProviderPolicy], isAccessToken: Bool = false,
        _ refusal: Refusal = .providerUnknown
    ) -> Check {
        let expected = Redaction.list(policies.map(\.acceptedIssuersText))
        guard let issuer = token.unverifiedIssuer else {
            return .failed(
                .provider, refusal,
                Diagnosis(
                    "The token does not say who issued it (iss), so no provider can be chosen.",
                    fix: "Check that it is an ID Token, or name the provider in the request."), expected: expected)
        }
        let diagnosis =
            DevelopmentKeys.contain(token.keyID)
            ? Diagnosis(
                """
                The token was signed by assay dev (its kid begins with \(DevelopmentKeys.keyIDPrefix)), and its iss is \
                not that of any configured provider.
                """,
                fix: "Send it to the instance that assay dev runs: no other accepts its keys.")
            : .otherIssuer(issuer, token.claims, policies, others: [], isAccessToken: isAccessToken)
        return .failed(
            .provider, refusal, diagnosis, expected: expected, found: Redaction.text(issuer))
    }
}

extension ProviderPolicy {
    /// The accepted values of `iss`.
    fileprivate var acceptedIssuersText: String { Redaction.list(allIssuers ?? [issuer] + issuerAliases) }
}

extension Diagnosis {
    /// Why an issuer is not one of the expected ones.
    ///
    /// - Parameters:
    ///   - expected: the policies whose issuers were compared with the token's.
    ///   - others: the policies of the other configured providers.
    ///   - isAccessToken: whether the token is verified as an access token.
    fileprivate static func otherIssuer(
        _ issuer: String, _ claims: Claims, _ expected: [ProviderPolicy], others: [ProviderPolicy], isAccessToken: Bool
    ) -> Diagnosis {
        if let other = others.first(where: { $0.isIssuer(issuer) }) {
            let named = expected.first.map { ", but the request names the provider \($0.id)" } ?? ""
            return Diagnosis(
                "The token is from another configured provider: its iss is \(other.id)'s\(named).",
                fix: "Send \"provider\": \"\(other.id)\", or omit provider.")
        }
        for policy in expected {
            if let diagnosis = otherTenant(issuer, claims, policy) ?? otherSpelling(issuer, policy) {
                return diagnosis
            }
        }
        return otherEntraVersion(issuer, expected, isAccessToken: isAccessToken) ?? knownProvider(issuer, expected)
            ?? Diagnosis(
                """
                The token's iss, \(Redaction.quoted(issuer)), is not that of \
                \(expected.count == 1 ? "this provider" : "any configured provider").
                """,
                fix: "Find out which provider issued it. To accept its tokens, add a provider with this issuer.")
    }

    private static func otherTenant(
        _ issuer: String, _ claims: Claims, _ policy: ProviderPolicy
    ) -> Diagnosis? {
        let octets = Array(issuer.utf8)[...]
        for template in policy.issuerTemplates ?? [] {
            guard let tenant = template.tenant(in: octets) else { continue }
            let name = Redaction.text(String(decoding: tenant, as: UTF8.self))
            let claim = template.claim.string
            guard policy.tenants.allows(tenant) else {
                let isListed = if case .only = policy.tenants { true } else { false }
                return Diagnosis(
                    isListed
                        ? """
                        The token is from the tenant \(name), which the setting tenants of the provider \(policy.id) \
                        does not list.
                        """
                        : "The token is from the tenant \(name), which excluded_tenants of the provider \(policy.id) lists.",
                    fix: isListed
                        ? "If its users may sign in, add \(name) to tenants, or change tenant."
                        : "If its users may sign in, remove \(name) from excluded_tenants.")
            }
            return Diagnosis(
                "The token's iss names the tenant \(name), but its \(claim) names another one or none.",
                fix: "Do not accept it: iss and \(claim) contradict each other.")
        }
        return nil
    }

    private static let longestCompared = 512

    private static func otherSpelling(_ issuer: String, _ policy: ProviderPolicy) -> Diagnosis? {
        // An attacker may have written it, and no real issuer is that long.
        guard issuer.utf8.count <= longestCompared else { return nil }
        let simple = simplified(issuer)
        for expected in policy.allIssuers ?? [] where simple == simplified(expected) {
            var differences: [String] = []
            if issuer.hasPrefix("http://") != expected.hasPrefix("http://") { differences.append("the scheme") }
            if issuer.hasSuffix("/") != expected.hasSuffix("/") { differences.append("a trailing slash") }
            if issuer.lowercased().filter(isLetter) == expected.lowercased().filter(isLetter),
                issuer.filter(isLetter) != expected.filter(isLetter)
            {
                differences.append("upper and lower case")
            }
            if issuer.contains(where: \.isWhitespace) { differences.append("whitespace") }
            let difference = differences.isEmpty ? "its spelling" : differences.joined(separator: " and ")
            return Diagnosis(
                """
                The token's iss differs from the issuer of \(policy.id) only in \(difference); issuers are \
                compared byte for byte.
                """,
                fix:
                    """
                    If the provider really uses this spelling, set issuer of the provider \(policy.id) to \
                    \(Redaction.quoted(issuer)), or add it to issuer_aliases.
                    """
            )
        }
        return nil
    }

    private static func isLetter(_ character: Character) -> Bool { character.isLetter }

    /// An issuer without the parts in which misspellings occur.
    private static func simplified(_ issuer: String) -> String {
        var text = issuer.lowercased().filter { !$0.isWhitespace }
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) { text.removeFirst(scheme.count) }
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// A Microsoft token of version 1.0 where version 2.0 is expected, or the reverse.
    ///
    /// The version of an ID Token is that of the endpoint. The version of an access token is the API's choice.
    /// - Source: learn.microsoft.com/entra/identity-platform/access-tokens, "Token formats".
    private static func otherEntraVersion(
        _ issuer: String, _ expected: [ProviderPolicy], isAccessToken: Bool
    ) -> Diagnosis? {
        let presets = [ProviderPreset.microsoft, .microsoftVersion1]
        let found = presets.first { $0.hasTemplate(for: issuer) }
        guard let found else { return nil }
        let version = found.name == ProviderPreset.microsoft.name ? "2.0" : "1.0"
        let isMicrosoft = expected.contains { policy in
            presets.contains { $0.facts(PresetArguments()).policy.issuer == policy.issuer }
        }
        return Diagnosis(
            isMicrosoft
                ? "This is a Microsoft v\(version) token, but v\(version == "2.0" ? "1.0" : "2.0") is expected."
                : "This is a Microsoft v\(version) token, but no configured provider accepts it.",
            fix: isMicrosoft
                ? (isAccessToken
                    ? "In the API's registration, set requestedAccessTokenVersion to \(version == "2.0" ? 1 : 2)"
                    : "Have the app use the endpoint of the other version") + ", or use the preset \(found.name)."
                : "If its users may sign in, add a provider with the preset \(found.name).")
    }

    /// The issuer of a preset that is not configured.
    private static func knownProvider(_ issuer: String, _ expected: [ProviderPolicy]) -> Diagnosis? {
        let preset = ProviderPreset.all.first { $0.facts(PresetArguments()).policy.isIssuer(issuer) }
        return preset.map { preset in
            if case .assertions = preset.facts(PresetArguments()).accessTokens {
                return Diagnosis(
                    "The token is a gateway's assertion, not an ID Token: its iss is that of the preset \(preset.name).",
                    fix: "Send it to POST /v1/access-tokens/verify, with a provider that has this preset.")
            }
            let add = "if its users may sign in, add a provider with the preset \(preset.name)."
            guard expected.count == 1, let policy = expected.first else {
                return Diagnosis(
                    "The token's iss is that of the preset \(preset.name), but no configured provider uses it.",
                    fix: "I" + add.dropFirst()
                )
            }
            return Diagnosis(
                """
                The token is from another provider: its iss is that of the preset \(preset.name), not that of the \
                provider \(policy.id).
                """,
                fix: "Send the token that \(policy.id) issued; or, " + add)
        }
    }
}

extension ProviderPreset {
    /// Whether an issuer belongs to any tenant of the provider.
    fileprivate func hasTemplate(for issuer: String) -> Bool {
        let templates = facts(PresetArguments()).policy.issuerTemplates ?? []
        return templates.contains { $0.tenant(in: Array(issuer.utf8)[...]) != nil }
    }
}
