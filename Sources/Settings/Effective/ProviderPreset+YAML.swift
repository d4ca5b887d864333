package import IDToken
private import JOSE
private import YAML

extension ProviderPreset {
    /// The settings that a preset stands for, as a file with one provider that needs no preset.
    ///
    /// - Parameter arguments: for the preset's parameters; of what is not given, the placeholder is written and explained.
    package func yaml(_ arguments: PresetArguments = PresetArguments()) -> String {
        let facts = facts(arguments)
        let missing = parameters.filter { arguments[$0.name] == nil }.map { parameter in
            parameter.isOptional
                ? "# it may have \(parameter.name): \(parameter.meaning)"
                : "# \(parameter.placeholder) (\(parameter.name)): \(parameter.meaning)"
        }
        let callers = facts.callers.map { callers in
            let claims = callers.claims.map(\.name.string).joined(separator: ", ")
            return
                "# claim_values must name one of \(claims); without, the tokens of \(callers.everyone) would be taken"
        }
        var yaml = YAMLWriter(
            lines: ["# \(name): \(summary)"] + missing + [callers].compactMap(\.self) + ["providers:"],
            indentation: 4)
        yaml.write(policy: facts.policy, id: name)
        yaml.write(keys: facts.keys)
        // The first member carries the list's dash.
        if let first = yaml.lines.firstIndex(where: { $0.hasPrefix("    id:") }) {
            yaml.lines[first] = "  - " + yaml.lines[first].dropFirst(4)
        }
        return yaml.lines.joined(separator: "\n") + "\n"
    }
}

/// Writes what is not as it would be without saying so.
private struct YAMLWriter {
    var lines: [String]
    var indentation: Int

    mutating func write(policy: ProviderPolicy, id: String) {
        let usual = ProviderPolicy(id: "", issuer: "", audiences: [])
        member("id", id)
        member("issuer", policy.issuer)
        list("issuer_aliases", policy.issuerAliases)
        switch policy.tenants {
        case .only(let tenants): list("tenants", tenants)
        case .any(let exceptions): list("excluded_tenants", exceptions)
        }
        list("key_issuers", policy.keyIssuers.map(\.text))
        list("audiences", policy.audiences.isEmpty ? ["<client ID>"] : policy.audiences)
        list("algorithms", (policy.algorithms ?? []).names.sorted())
        section("nonce") { yaml in
            if policy.nonce.accepted != usual.nonce.accepted {
                yaml.list("match", policy.nonce.accepted.map(\.rawValue))
            }
            if policy.nonce.isRequired { yaml.line("required: true") }
            if !policy.nonce.isChecked { yaml.line("check: off") }
        }
        list("required_claims", policy.requiredClaims.map(\.string))
        rules("claim_values", policy.claimRules.filter { $0.kind == .oneOf })
        rules("refused_claim_values", policy.claimRules.filter { $0.kind == .noneOf })
        list("refused_claims", policy.claimRules.filter { $0.kind == .absent }.map(\.claim.name.string))
        section("service_accounts") { yaml in
            if policy.serviceAccounts.refusesOwnParty { yaml.line("refuse_azp_equal_to_sub: true") }
            yaml.list("refuse_email_domains", policy.serviceAccounts.emailDomains)
        }
        if policy.refusesAccessTokens != usual.refusesAccessTokens {
            line("refuse_access_tokens: \(policy.refusesAccessTokens)")
        }
        section("identity") { yaml in
            var claims = policy.identityClaims.mapValues(\.name.string)
            let reported = [
                policy.reportsHostedDomain ? IdentityMember.hostedDomain : nil,
                policy.reportsTransferSubject ? .transferSubject : nil,
            ].compactMap(\.self)
            for member in reported where claims[member] == nil { claims[member] = member.defaultClaim.string }
            for (member, claim) in claims.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                yaml.member(member.rawValue, claim)
            }
        }
        if policy.reportsRealUserStatus { line("real_user_status: true") }
        section("email") { yaml in
            switch policy.email.verification {
            case .emailVerified: break
            case .claim(let path): yaml.member("verified_claim", path.name.string)
            case .nothing: yaml.line("verified_claim: none")
            }
            yaml.list("authoritative_domains", policy.email.authoritativeDomains)
            if policy.email.trustsHostedDomain { yaml.line("trust_hosted_domain: true") }
        }
        list("private_email_domains", policy.email.privateDomains)
    }

    mutating func write(keys: PublishedKeys) {
        switch keys {
        case .jwkSet(let address): member("jwks_uri", address)
        case .certificates(let address): member("certificates_uri", address)
        case .discovery(let url, let issuer):
            if let url { member("discovery_url", url) }
            if let issuer { member("discovery_issuer", issuer) }
        }
    }

    private mutating func line(_ text: String) { lines.append(String(repeating: " ", count: indentation) + text) }

    private mutating func member(_ name: String, _ value: String) { line("\(scalar(name)): \(scalar(value))") }

    private mutating func list(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        line("\(scalar(name)): [\(values.map(scalar).joined(separator: ", "))]")
    }

    private mutating func rules(_ name: String, _ rules: [ClaimRule]) {
        section(name) { yaml in
            for rule in rules { yaml.list(rule.claim.name.string, rule.values) }
        }
    }

    /// A mapping; nothing where `write` writes nothing.
    private mutating func section(_ name: String, _ write: (inout YAMLWriter) -> Void) {
        var inner = YAMLWriter(lines: [], indentation: indentation + 2)
        write(&inner)
        guard !inner.lines.isEmpty else { return }
        line(name + ":")
        lines += inner.lines
    }

    private func scalar(_ text: String) -> String { YAMLText.scalar(text) }
}
