private import IDToken
private import JOSE
private import KeySource
internal import YAML

/// Reads one element of `providers`.
enum ProviderReader {
    static let clockSkews: ClosedRange<Int64> = 0...300

    /// - Returns: `nil` where a fault, which is reported, leaves nothing to read the rest by, or nothing to call it.
    static func read(
        _ node: YAMLNode, defaultClockSkew: Int64, _ reading: SettingsReading
    ) -> ProviderSettings? {
        // The id comes first: it names the environment variables of the rest.
        let givenID = id(of: node, reading)
        guard givenID != nil || node.mapping != nil else { return nil }
        // Without one, no variable is its, and what else is wrong with it is found all the same.
        let id = givenID ?? ""
        let section = Section(node, path: ["providers", id], reading)
        section.record("id", .scalar(id), .line(node["id"]?.line ?? node.line))
        _ = section.node("id")
        guard let preset = preset(section) else {
            reading.variables.noteUnread(section.path)
            return nil
        }
        let facts = preset.preset.facts(arguments(for: preset.preset, section, id: id))
        let usual = PresetDefaults(facts.policy, preset.origin)
        var policy = facts.policy
        policy.id = id
        readIssuer(section, &policy, usual)
        readAudiences(section, &policy, usual)
        readAlgorithms(section, &policy, usual)
        policy.nonce = nonce(section.section("nonce"), policy.nonce, usual)
        policy.clockSkewSeconds = section.seconds("clock_skew", in: clockSkews, default: defaultClockSkew)
        policy.maximumTokenAgeSeconds = section.seconds("max_token_age", in: 1...(366 * 86400))
        readRequiredClaims(section, &policy, usual)
        policy.claimRules = claimRules(section, facts, preset: preset.preset.name, usual)
        policy.serviceAccounts = serviceAccounts(section.section("service_accounts"), policy.serviceAccounts, usual)
        policy.refusesAccessTokens = section.bool(
            "refuse_access_tokens", default: policy.refusesAccessTokens, from: usual.origin(\.refusesAccessTokens))
        readIdentity(section.section("identity"), &policy, usual)
        policy.reportsRealUserStatus = section.bool(
            "real_user_status", default: policy.reportsRealUserStatus, from: usual.origin(\.reportsRealUserStatus))
        policy.email = email(section.section("email"), policy.email, usual)
        policy.email.privateDomains = section.texts(
            "private_email_domains", default: policy.email.privateDomains, from: usual.origin(\.email.privateDomains))

        let network = network(section.section("network"))
        var provider = ProviderSettings(policy: policy, keys: keys(section, facts.keys, policy, network, usual))
        provider.network = network
        provider.mayMeetAccessTokens = facts.policy.refusesAccessTokens || policy.refusesAccessTokens
        provider.isOptional = section.bool("optional", default: false)
        section.finish()
        return givenID == nil ? nil : provider
    }

    private static func id(of node: YAMLNode, _ reading: SettingsReading) -> String? {
        let expected = "each provider needs an id of 1 to 64 letters, digits, full stops, hyphens and underscores"
        guard let id = node["id"]?.scalar?.string, (1...64).contains(id.utf8.count),
            id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) })
        else {
            let found = (node.mapping == nil ? node : node["id"]).map { "; found \(FoundText.of($0))" } ?? ""
            reading.report(["providers"], line: node.line, expected + found)
            // Whose variables are there can't be known.
            reading.variables.noteUnread(["providers"])
            return nil
        }
        return id
    }

    /// Reads which preset the settings begin with. A misspelt one is read as the nearest, so that what else is wrong can be
    /// found.
    private static func preset(
        _ section: Section
    ) -> (preset: ProviderPreset, origin: EffectiveSettings.Origin)? {
        let names = ProviderPreset.all.map(\.name)
        let expected = "one of \(names.joined(separator: ", "))"
        if let preset = section.scalar("preset", expected, words: names, ProviderPreset.named) {
            return (preset, .preset(preset.name))
        }
        guard section.isFaulty("preset") else {
            section.otherwise("preset", (), shown: ProviderPreset.oidc.name)
            return (.oidc, .standard)
        }
        let meant = section.scalarText("preset").flatMap { Suggestion.nearest(to: $0, among: names) }
        return meant.flatMap(ProviderPreset.named).map { ($0, .preset($0.name)) }
    }

    private static func readAlgorithms(_ section: Section, _ policy: inout ProviderPolicy, _ usual: PresetDefaults) {
        let names = SignatureAlgorithm.allCases.map(\.rawValue)
        guard
            let list = section.list(
                "algorithms", "one of \(names.joined(separator: ", "))", words: names,
                SignatureAlgorithm.init(rawValue:)
            )
        else {
            section.otherwise(
                "algorithms", (), shown: (policy.algorithms?.names ?? []).sorted(), from: usual.origin(\.algorithms))
            return
        }
        if list.isEmpty { section.refuse("algorithms", "algorithms must name at least one") }
        policy.algorithms = SignatureAlgorithms(list)
    }

    private static func nonce(_ section: Section, _ rule: NonceRule, _ usual: PresetDefaults) -> NonceRule {
        var rule = rule
        let forms = NonceMatch.allCases.map(\.rawValue)
        let expected = "one of \(forms.joined(separator: ", "))"
        if let accepted = section.list("match", expected, words: forms, NonceMatch.init(rawValue:)) {
            if accepted.isEmpty { section.refuse("match", "match must name at least one form") }
            rule.accepted = accepted
        } else {
            section.otherwise(
                "match", (), shown: rule.accepted.map(\.rawValue), from: usual.origin(\.nonce.accepted))
        }
        rule.isRequired = section.bool("required", default: rule.isRequired, from: usual.origin(\.nonce.isRequired))
        rule.isChecked =
            section.scalar("check", "on or off", words: ["on", "off"]) { ["on": true, "off": false][$0] }
            ?? section.otherwise(
                "check", rule.isChecked, shown: rule.isChecked ? "on" : "off", from: usual.origin(\.nonce.isChecked))
        section.finish()
        if !rule.isChecked, rule.isRequired {
            section.refuse("required", "a nonce can't be required and not checked")
        }
        return rule
    }

    private static func network(_ section: Section) -> NetworkRules {
        var network = NetworkRules()
        network.allowHTTP = section.bool("allow_http", default: false)
        network.allowPrivateAddresses = section.bool("allow_private_addresses", default: false)
        let addresses = "an address or a block such as 10.0.0.0/8, with no bits behind the prefix"
        network.allowedAddresses = section.list("allow_addresses", addresses, AddressBlock.init) ?? []
        network.caFile = section.text("ca_file")
        section.finish()
        return network
    }
}
