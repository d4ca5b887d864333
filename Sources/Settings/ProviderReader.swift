private import IDToken
private import JOSE
private import KeySource

/// Reads one element of `providers`.
enum ProviderReader {
    static let clockSkews: ClosedRange<Int64> = 0...300

    static func read(
        _ node: YAMLNode, defaultClockSkew: Int64, _ environment: [String: String]
    ) throws(SettingsError) -> ProviderSettings {
        // The id comes first: it names the environment variables of the rest.
        let id = try id(of: node)
        let section = try Section(node, path: ["providers", id], environment)
        _ = try section.text("id")
        let presets = ProviderPreset.all.map(\.name).joined(separator: ", ")
        let preset = try section.scalar("preset", "one of \(presets)", ProviderPreset.named) ?? .oidc

        let facts = preset.facts(try arguments(for: preset, section, id: id))
        var policy = facts.policy
        policy.id = id
        try readIssuer(section, &policy)
        try readAudiences(section, &policy)
        let algorithms = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        if let list = try section.list("algorithms", "one of \(algorithms)", SignatureAlgorithm.init(rawValue:)) {
            guard !list.isEmpty else { throw section.error("algorithms", "algorithms must name at least one") }
            policy.algorithms = SignatureAlgorithms(list)
        }
        policy.nonce = try nonce(section.section("nonce"), policy.nonce)
        policy.clockSkewSeconds = try section.seconds("clock_skew", in: clockSkews) ?? defaultClockSkew
        policy.maximumTokenAgeSeconds = try section.seconds("max_token_age", in: 1...(366 * 86400))
        // Beside the preset's: whoever asks for one more must not lose another by it.
        policy.requiredClaims += try section.list("required_claims", "the name of a claim") { ClaimName($0) } ?? []
        policy.claimRules = try claimRules(section, facts, preset: preset.name)
        policy.serviceAccounts = try serviceAccounts(section.section("service_accounts"), policy.serviceAccounts)
        policy.refusesAccessTokens = try section.bool("refuse_access_tokens") ?? policy.refusesAccessTokens
        policy.identityClaims = try identityClaims(section.section("identity"), policy.identityClaims)
        policy.reportsRealUserStatus = try section.bool("real_user_status") ?? policy.reportsRealUserStatus
        policy.email = try email(section.section("email"), policy.email)
        policy.email.privateDomains = try section.texts("private_email_domains") ?? policy.email.privateDomains

        let network = try network(section.section("network"))
        var provider = ProviderSettings(policy: policy, keys: try keys(section, facts.keys, policy, network))
        provider.network = network
        provider.mayMeetAccessTokens = facts.policy.refusesAccessTokens || policy.refusesAccessTokens
        provider.isOptional = try section.bool("optional") ?? false
        try section.finish()
        return provider
    }

    private static func id(of node: YAMLNode) throws(SettingsError) -> String {
        let expected = "each provider needs an id of 1 to 64 letters, digits, full stops, hyphens and underscores"
        guard let id = node["id"]?.scalar?.string, (1...64).contains(id.utf8.count),
            id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) })
        else { throw SettingsError(line: node.line, message: expected) }
        return id
    }

    private static func nonce(_ section: Section, _ usual: NonceRule) throws(SettingsError) -> NonceRule {
        var rule = usual
        let forms = NonceMatch.allCases.map(\.rawValue).joined(separator: ", ")
        if let accepted = try section.list("match", "one of \(forms)", NonceMatch.init(rawValue:)) {
            guard !accepted.isEmpty else { throw section.error("match", "match must name at least one form") }
            rule.accepted = accepted
        }
        rule.isRequired = try section.bool("required") ?? rule.isRequired
        rule.isChecked = try section.scalar("check", "on or off") { ["on": true, "off": false][$0] } ?? rule.isChecked
        try section.finish()
        guard rule.isChecked || !rule.isRequired else {
            throw section.error("required", "a nonce can't be required and not checked")
        }
        return rule
    }

    private static func network(_ section: Section) throws(SettingsError) -> NetworkRules {
        var network = NetworkRules()
        network.allowHTTP = try section.bool("allow_http") ?? false
        network.allowPrivateAddresses = try section.bool("allow_private_addresses") ?? false
        let addresses = "an address or a block such as 10.0.0.0/8, with no bits behind the prefix"
        network.allowedAddresses = try section.list("allow_addresses", addresses, AddressBlock.init) ?? []
        network.caFile = try section.text("ca_file")
        try section.finish()
        return network
    }
}
