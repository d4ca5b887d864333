private import Bytes
internal import IDToken
private import JOSE

extension CheckDescriptions {
    func issuer(_ rejection: Rejection?) -> Check {
        let issuer = claims.text(.issuer)
        return made(
            .issuer, rejection, passed: "The token's iss is the provider's.",
            failed: .otherIssuer(issuer ?? "", claims, [policy], others: others, isAccessToken: kind.isAccessToken),
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
            ), expected: Redaction.list(policy.keyIssuers.map(\.text)), found: jws?.keyIssuer.map(Redaction.text))
    }

    func audience(_ rejection: Rejection?) -> Check {
        let found = claims.texts(.audience)
        return made(
            .audience, rejection, passed: "The token is for this app.", failed: audienceDiagnosis(rejection, found),
            expected: expectedAudience, found: found.isEmpty ? nil : Redaction.list(found))
    }

    var expectedAudience: String {
        if let audience = parameters.audience { return Redaction.text(audience) }
        return policy.audiences.isEmpty
            ? "none, and azp \(Redaction.list(policy.authorizedParties))" : Redaction.list(policy.audiences)
    }

    private func audienceDiagnosis(_ rejection: Rejection?, _ found: [String]) -> Diagnosis {
        if rejection == .authorizedPartyMismatch { return partyDiagnosis }
        let isConfigured = found.contains(where: policy.audiences.containsExactly)
        if policy.audiences.isEmpty {
            return Diagnosis(
                "The token has an audience, but tokens of the provider \(policy.id) must have none.",
                fix: "If it is your client ID, \(policy.audienceAdvice).")
        }
        if let audience = parameters.audience, isConfigured, !found.containsExactly(audience) {
            return Diagnosis(
                """
                The token is for \(Redaction.list(found)), which is configured, but the request accepts only \
                \(Redaction.text(audience)).
                """,
                fix: "Set audience to the client ID of the app that signed in, or omit it.")
        }
        if isConfigured {
            let untrusted = found.filter {
                !policy.audiences.containsExactly($0) && !policy.trustedAudiences.containsExactly($0)
            }
            return Diagnosis(
                "The token is for this app, and also for \(Redaction.list(untrusted)), which is not trusted.",
                fix: "If you trust that audience, add it to trusted_audiences of the provider \(policy.id).")
        }
        return signsOfAccessToken ?? unknownAudienceDiagnosis(found)
    }

    /// The diagnosis for a token with claims that access tokens have and ID Tokens don't.
    private var signsOfAccessToken: Diagnosis? {
        let signs = ["scope", "scp"].filter { claims.contains(ClaimName($0)) }
        guard !signs.isEmpty, !claims.contains(.nonce) else { return nil }
        return Diagnosis(
            """
            The token is for another audience, and looks like an access token: it has \
            \(signs.joined(separator: " and ")), and no nonce.
            """,
            fix: "Send the id_token of the provider's response, not the access_token.")
    }

    private func unknownAudienceDiagnosis(_ found: [String]) -> Diagnosis {
        let names = Redaction.list(found)
        if found.containsExactly(ProviderPolicy.expoGoAudience) {
            return Diagnosis(
                """
                The token is for \(ProviderPolicy.expoGoAudience), which is Expo Go: every app that runs there has this \
                audience, not only yours.
                """,
                fix: """
                    Use a development build, which has the app's own bundle ID. Never add \
                    \(ProviderPolicy.expoGoAudience) to the audiences in production: other people's apps could then sign \
                    users in to yours.
                    """)
        }
        guard let (audience, configured) = nearest(to: found) else {
            return Diagnosis(
                "The token is for \(names), but \(policy.audienceOwner) has other audiences.",
                fix:
                    "If it is your client ID, \(policy.audienceAdvice). Otherwise, the token was issued to another app."
            )
        }
        let (near, own) = (Redaction.text(audience), Redaction.text(configured))
        if folded(audience) == folded(configured) {
            return Diagnosis(
                "The token is for \(near), but only \(own) is configured; audiences are compared byte for byte.",
                fix: "In \(policy.audiencePlace), replace \(own) with \(near).")
        }
        return Diagnosis(
            // Only Apple, or a provider that imitates it, reports this, and Apple has two kinds of client IDs.
            policy.reportsRealUserStatus
                ? """
                The token is for \(near), but only \(own) is configured; one is probably the app's bundle ID, \
                the other the website's Services ID.
                """
                : "The token is for \(near), but only the similar \(own) is configured.",
            fix: "If \(near) is yours too, \(policy.audienceAdvice).")
    }

    /// The maximum number of the token's audiences that are compared: an attacker may have written them.
    private static let comparedAudiences = 20
    private static let longestCompared = 256

    /// The token's audience that most resembles a configured one with the same beginning.
    private func nearest(to found: [String]) -> (found: String, configured: String)? {
        let own = policy.audiences.map { (name: $0, folded: folded($0)) }
        var nearest: (found: String, configured: String, length: Int)?
        for audience in found.lazy.filter({ $0.utf8.count <= Self.longestCompared }).prefix(Self.comparedAudiences) {
            let left = folded(audience)
            for (configured, right) in own where right.count <= Self.longestCompared {
                let length = zip(left, right).prefix { $0 == $1 }.count
                guard length >= 4, length > nearest?.length ?? 0 else { continue }
                // Google's client IDs all end alike, and differ at the beginning.
                let end = zip(left.dropFirst(length).reversed(), right.dropFirst(length).reversed())
                    .prefix { $0 == $1 }.count
                guard 2 * length >= min(left.count, right.count) - end else { continue }
                nearest = (audience, configured, length)
            }
        }
        return nearest.map { ($0.found, $0.configured) }
    }

    /// The bytes of a client ID, with ASCII letters in lower case.
    private func folded(_ text: String) -> [UInt8] { text.utf8.map(\.asciiLowercased) }
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
        return .failed(.provider, refusal, diagnosis, expected: expected, found: Redaction.text(issuer))
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
        if let policy = expected.first, policy.origin == .connection {
            return otherSpelling(issuer, policy)
                ?? Diagnosis(
                    "The token's iss, \(Redaction.quoted(issuer)), is not the issuer of the request's connection.",
                    fix:
                        "If it is this customer's provider, correct the connection's issuer. Otherwise, do not accept the token."
                )
        }
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
                fix: "Find out which provider issued it. To accept its tokens, \(addition(to: expected)).")
    }

    /// How to accept another issuer: the end of a sentence.
    private static func addition(to expected: [ProviderPolicy]) -> String {
        guard expected.count == 1, let policy = expected.first, policy.origin == .line else {
            return "add a provider with this issuer"
        }
        return "add this issuer to the list of the provider \(policy.id)"
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
                The token's iss differs from \(policy.origin == .connection ? "the connection's issuer" : "the issuer of \(policy.id)") \
                only in \(difference); issuers are compared byte for byte.
                """,
                fix: "If the provider really uses this spelling, "
                    + (policy.origin == .connection
                        ? "set the connection's issuer to \(Redaction.quoted(issuer))."
                        : "set issuer of the provider \(policy.id) to \(Redaction.quoted(issuer)), or add it to issuer_aliases.")
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
                    fix: "I" + add.dropFirst())
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
