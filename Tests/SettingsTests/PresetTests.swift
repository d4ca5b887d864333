import IDToken
import Keys
import Settings
import Testing

@Suite struct PresetTests {
    private static let uuid: String = "11111111-2222-3333-4444-55555555aaaa"

    /// Sample arguments for presets with parameters.
    private static let samples: [String: PresetArguments] = [
        "auth0": ["domain": "example.eu.auth0.com"],
        "authentik": ["issuer": "https://sso.example.com/application/o/example/"],
        "aws-alb": [
            "signer": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188",
            "client": "my-client", "issuer": "https://op.example.com",
        ],
        "azure-b2c": ["subdomain": "example", "tenant": uuid, "policy": "B2C_1_sign_in"],
        "clerk": ["domain": "clerk.example.com"], "cloudflare-access": ["domain": "example.cloudflareaccess.com"],
        "cognito": ["pool": "eu-west-1_AbCdEfGhI"],
        "dex": ["issuer": "https://dex.example.com/dex"], "entra-external": ["subdomain": "example", "tenant": uuid],
        "firebase": ["project": "example-1234"], "firebase-session-cookie": ["project": "example.com:project"],
        "esignet": ["issuer": "https://esignet.example.org/v1/esignet"],
        "keycloak": ["issuer": "https://sso.example.com/realms/example"],
        "kinde": ["domain": "example.kinde.com"],
        "kubernetes": ["issuer": "https://kubernetes.default.svc.cluster.local"],
        "microsoft": ["tenant": uuid], "microsoft-v1": ["tenant": "organizations"],
        "oidc": ["issuer": "https://op.example.com"],
        "okta": ["domain": "example.okta.com", "authorization_server": "default"],
        "ory": ["issuer": "https://example.projects.oryapis.com"],
        "pomerium": ["domain": "app.example.com"],
        "salesforce": ["domain": "example.my.salesforce.com"],
        "spring-authorization-server": ["issuer": "https://auth.example.com"],
        "supabase": ["project": "abcdefghijklmnopqrst"],
        "workos-authkit": ["client": "client_01HEXAMPLE"],
        "zitadel": ["issuer": "https://example.zitadel.cloud"],
    ]

    private static let presets: [String] = ProviderPreset.all.map(\.name)
    private static let withParameters: [String] = samples.keys.sorted()

    private func preset(_ name: String) throws -> ProviderPreset { try #require(ProviderPreset.named(name)) }

    private func arguments(_ name: String) -> PresetArguments { Self.samples[name] ?? [:] }

    /// The facts about the kind of token that the preset verifies: a gateway's assertions, or ID Tokens.
    private func facts(_ preset: ProviderPreset, _ arguments: PresetArguments) -> ProviderFacts {
        let facts = preset.facts(arguments)
        if case .assertions(let dialect) = facts.accessTokens { return facts.ofAccessTokens(dialect) }
        return facts
    }

    private func isGateway(_ preset: ProviderPreset) -> Bool {
        if case .assertions = preset.facts([:]).accessTokens { true } else { false }
    }

    private func needsAudiences(_ facts: ProviderFacts) -> Bool {
        facts.policy.audiences.isEmpty && facts.accessTokens.dialect?.loadBalancer == nil
    }

    private func location(_ facts: ProviderFacts, _ policy: ProviderPolicy) -> KeyLocation {
        switch facts.keys {
        case .discovery(let url, let issuer): .discovery(of: policy, url: url, issuer: issuer)
        case .jwkSet(let address): .network(.jwkSet(address: address))
        case .certificates(let address): .network(.certificates(address: address))
        case .publicKeys(let address): .network(.publicKeys(address: address ?? ""))
        }
    }

    private func expected(_ facts: ProviderFacts, id: String, audiences: [String]) -> ProviderPolicy {
        var policy = facts.policy
        policy.id = id
        if needsAudiences(facts) { policy.audiences = audiences }
        return policy
    }

    @Test func `presets have names of their own, in alphabetical order, and say what they are`() {
        #expect(Self.presets == Set(Self.presets).sorted())
        #expect(Self.presets.count == 42)
        for preset in ProviderPreset.all {
            #expect(!preset.summary.isEmpty && !preset.summary.contains("\n"))
            let needed = preset.parameters.filter { !$0.isOptional }.map(\.name)
            #expect(needed.allSatisfy { arguments(preset.name)[$0] != nil }, "\(preset.name)")
        }
    }

    @Test(arguments: ["aws-alb", "cloudflare-access", "google-iap", "pomerium"])
    func `what is shown of a gateway's preset keeps the preset, and has the same policy`(name: String) throws {
        let preset = try preset(name)
        let yaml = preset.yaml(arguments(name))
        #expect(yaml.contains("preset: \(name)"))
        #expect(yaml.contains("tokens: access"))
        let provider = try #require(settings(yaml).providers.first)
        let facts = facts(preset, arguments(name))
        #expect(provider.policy == expected(facts, id: name, audiences: ["<client ID>"]))
        #expect(provider.accessTokens == facts.accessTokens.dialect)
        #expect(provider.keys == location(facts, provider.policy))
    }

    @Test(arguments: presets)
    func `what is shown of a preset is a plain provider with the same policy`(name: String) throws {
        let preset = try preset(name)
        if isGateway(preset) { return }
        for arguments in [PresetArguments(), arguments(name)] {
            let facts = preset.facts(arguments)
            let yaml = preset.yaml(arguments)
            #expect(!yaml.contains("preset:"))
            do {
                let provider = try #require(settings(yaml).providers.first)
                var expected = expected(facts, id: name, audiences: ["<client ID>"])
                // Properties of presets that no setting controls.
                expected.issuesTokensOfSignIns = true
                expected.maximumSubjectLength = 255
                #expect(provider.policy == expected)
                #expect(provider.keys == location(facts, provider.policy))
            } catch let error as SettingsError {
                // Nothing can be fetched while the host is a placeholder.
                #expect(
                    "\(error)".contains("is not a URL that keys can be fetched from: a URL needs a valid host name"))
                #expect(yaml.contains(/https:\/\/[^\/]*</))
            }
        }
    }

    @Test(arguments: presets)
    func `a provider with a preset has the preset's policy`(name: String) throws {
        let preset = try preset(name)
        let given = preset.parameters.compactMap { parameter in
            arguments(name)[parameter.name].map { "\(parameter.name): \"\($0)\"" }
        }
        let facts = facts(preset, arguments(name))
        let audiences = needsAudiences(facts) ? ["audiences: [a]"] : []
        let callers = facts.callers.map {
            ["claim_values: { \($0.claims[0].name.string): \"<\($0.claims[0].name.string)>\" }"]
        }
        let provider = try read(
            provider: (["preset: \(name)"] + given + audiences + (callers ?? [])).joined(separator: "\n"))
        #expect(provider.policy == expected(facts, id: "p", audiences: ["a"]))
        #expect(provider.keys == location(facts, provider.policy))
    }

    @Test(arguments: withParameters)
    func `a parameter that is missing or ill-formed is named`(name: String) throws {
        let preset = try preset(name)
        for missing in preset.parameters where !missing.isOptional {
            let others = preset.parameters.filter { $0.name != missing.name }.compactMap { parameter in
                arguments(name)[parameter.name].map { "\(parameter.name): \"\($0)\"" }
            }
            let callers = name == "kubernetes" ? ["claim_values: any"] : []
            let audiences = name == "aws-alb" ? [] : ["audiences: [a]"]
            let lines = ["preset: \(name)"] + audiences + callers + others
            let missed = try fault(lines)
            #expect(missed.line == 2)
            #expect(missed.message.hasPrefix("provider p needs a"), "\(missed.message)")
            #expect(missed.message.contains(" \(missing.name) for preset \(name): \(missing.meaning)"))
            // A client ID may be any text.
            let malformed =
                missing.name == "client"
                ? ["\"a b\""] : missing.name == "issuer" ? [] : ["a/b", "\"a b\"", "a?b", "a#b", "'{tid}'"]
            for bad in ["''", "[a]"] + malformed {
                let fault = try fault(lines + ["\(missing.name): \(bad)"])
                #expect(fault.line == 2 + lines.count + 1)
                #expect(fault.message.hasPrefix("\(missing.name) must be \(missing.meaning); found "))
            }
        }
    }

    /// What is wrong with the settings of a provider.
    private func fault(_ lines: [String]) throws -> SettingsFault {
        try SettingsTests.fault("providers:\n  - id: p\n" + indented(lines.joined(separator: "\n")))
    }

    @Test func `a parameter of another preset is not known`() throws {
        let fault = try fault(["preset: google", "audiences: [a]", "tenant: common"])
        #expect(fault.line == 5)
        #expect(fault.message.hasPrefix("unknown setting tenant"))
    }

    @Test(arguments: [
        "11111111-2222-3333-4444-55555555AAAA", "11111111222233334444555555555555", "Common", "contoso.com",
        "11111111-2222-3333-4444-5555555555555", "g1111111-2222-3333-4444-555555555555",
    ])
    func `a Microsoft tenant is a UUID in lower case or one of three words`(tenant: String) throws {
        let fault = try fault(["preset: microsoft", "audiences: [a]", "tenant: \(tenant)"])
        #expect(fault.message.hasPrefix("tenant must be the tenant's UUID in lower case, or common"))
    }

    @Test(arguments: ["localhost", "example", "https://example.com", "example.com/", "a..b", ".example.com", "a.b:x"])
    func `a domain is a host's name`(domain: String) throws {
        let fault = try fault(["preset: auth0", "audiences: [a]", "domain: '\(domain)'"])
        #expect(fault.message.hasPrefix("domain must be the tenant's domain"))
    }

    @Test(arguments: ["example.com", "tenant.eu.example.com", "example.com:8443"])
    func `a domain may have a port`(domain: String) throws {
        let policy = try read(provider: "preset: auth0\naudiences: [a]\ndomain: '\(domain)'").policy
        #expect(policy.issuer == "https://\(domain)/")
    }

    @Test func `a parameter may come from the environment`() throws {
        let policy = try read(
            provider: "preset: firebase", ["ASSAY_PROVIDERS_P_PROJECT": "example-1234"]
        ).policy
        #expect(policy.issuer == "https://securetoken.google.com/example-1234")
        #expect(policy.audiences == ["example-1234"])
    }

    // MARK: Settings next to a preset

    @Test func `a rule that is added leaves the preset's own, and one that is written takes its place`() throws {
        func rules(_ lines: String) throws -> [ClaimRule] {
            try read(provider: "preset: cognito\npool: eu-west-1_A\naudiences: [a]\n" + lines).policy.claimRules
        }
        let own = ClaimRule(ClaimPath("token_use"), .oneOf, ["id"])
        let added = ClaimRule(ClaimPath("custom:org"), .oneOf, ["1"])
        #expect(try rules("") == [own])
        #expect(try rules("claim_values: { 'custom:org': 1 }") == [own, added])
        #expect(
            try rules("claim_values: { token_use: [access] }") == [
                ClaimRule(ClaimPath("token_use"), .oneOf, ["access"])
            ])
        #expect(try rules("claim_values: { token_use: [] }") == [])
        #expect(try rules("refused_claim_values: { token_use: [access] }").first == own)
    }

    @Test func `claims that may not be there stand beside the preset's, and an empty list takes those away`() throws {
        func rules(_ lines: String) throws -> [ClaimRule] {
            try read(provider: "preset: supabase\nproject: a\n" + lines).policy.claimRules
        }
        let own = ClaimRule(ClaimPath("client_id"), .absent, [])
        #expect(try rules("") == [own])
        #expect(try rules("refused_claims: [/a/b]") == [own, ClaimRule(ClaimPath("/a/b"), .absent, [])])
        #expect(try rules("refused_claims: []") == [])
        #expect(try fault(["preset: google", "audiences: [a]", "refused_claims: ['']"]).line == 5)
    }

    @Test(arguments: [
        ("github-actions", "every repository at GitHub", "repository_id: [74]"),
        ("github-actions", "every repository at GitHub", "repository_owner_id: 65"),
        ("github-actions", "every repository at GitHub", "sub: 'repo:a/b:ref:refs/heads/main'"),
        ("kubernetes", "every service account", "/kubernetes.io/namespace: [a]"),
        ("kubernetes", "every service account", "sub: 'system:serviceaccount:a:b'"),
    ])
    func `a preset whose tokens anyone can get requires a rule, or the word any`(
        name: String, everyone: String, rule: String
    ) throws {
        let lines = ["preset: \(name)", "audiences: [a]"] + (name == "kubernetes" ? ["issuer: https://a.example"] : [])
        for slip in [[], ["claim_values: { ref: a, /kubernetes.io/serviceaccount/name: a }"], ["claim_values:"]] {
            let fault = try fault(lines + slip)
            #expect(fault.message.contains("accepts tokens of \(everyone)"), "\(fault.message)")
            #expect(fault.message.contains("claim_values: any"))
        }
        _ = try fault(lines + ["refused_claim_values: { \(rule) }"])
        _ = try fault(lines + ["claim_values: { \(rule.prefix { $0 != ":" }): [] }"])
        let policy = try read(provider: (lines + ["claim_values: { \(rule) }"]).joined(separator: "\n")).policy
        #expect(policy.claimRules.count == 1 && !policy.claimRules[0].values[0].contains("<"))
        let any = (lines + ["claim_values: any"]).joined(separator: "\n")
        #expect(try read(provider: any).policy.claimRules == [])
    }

    @Test(arguments: ["preset: google", "preset: keycloak\nissuer: https://a.example", "issuer: https://a.example"])
    func `claim_values any is rejected for presets that require no rule`(provider: String) throws {
        let lines = "\(provider)\naudiences: [a]\nclaim_values: any"
        let fault = try SettingsTests.fault("providers:\n  - id: p\n" + indented(lines))
        #expect(fault.message.hasPrefix("claim_values: any is only for presets that require a rule"))
    }

    @Test func `who service accounts are can be said of any provider, and be taken from Google's`() throws {
        let lines = "issuer: https://a.example\naudiences: [a]\nservice_accounts:\n"
        let rule = try read(
            provider: lines + "  refuse_azp_equal_to_sub: true\n  refuse_email_domains: [robots.example]"
        ).policy.serviceAccounts
        #expect(rule.refusesAzpEqualToSub && rule.emailDomains == ["robots.example"])
        let google = "preset: google\naudiences: [a]\nservice_accounts: "
        let none = try read(provider: google + "{ refuse_azp_equal_to_sub: false, refuse_email_domains: [] }").policy
        #expect(none.serviceAccounts == ServiceAccountRule())
        #expect(throws: SettingsError.self) { try read(provider: google + "{ refuse: true }") }
    }

    @Test func `members of the identity are named one by one`() throws {
        let lines = "preset: cognito\npool: eu-west-1_A\naudiences: [a]\n"
        let claims = try read(provider: lines + "identity: { tenant: 'custom:org' }").policy.identityClaims
        #expect(claims == [.tenant: ClaimPath("custom:org"), .preferredUsername: ClaimPath("cognito:username")])
        let usual = try read(provider: lines + "identity: { preferred_username: preferred_username }").policy
        #expect(usual.identityClaims == [:])
    }

    @Test func `another address of a discovery document still names the issuer that the preset knows`() throws {
        let url = "https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration?appid=a"
        let provider = try read(
            provider: "preset: microsoft\ntenant: common\naudiences: [a]\ndiscovery_url: \"\(url)\"")
        let issuer = "https://login.microsoftonline.com/{tenantid}/v2.0"
        #expect(provider.keys == .discovery(of: provider.policy, url: url, issuer: issuer))
    }

    @Test func `tenants may be narrowed beside a preset`() throws {
        let lines = "preset: microsoft\ntenant: organizations\naudiences: [a]\n"
        #expect(try read(provider: lines + "tenants: [one]").policy.tenants == .only(["one"]))
        let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
        let excluded = try read(provider: lines + "excluded_tenants: [one]").policy.tenants
        #expect(excluded == .any(except: [consumers, "one"]))
        let fault = try fault(["preset: microsoft", "tenant: consumers", "audiences: [a]", "excluded_tenants: [one]"])
        #expect(fault.line == 6)
        #expect(
            fault.message
                == "excluded_tenants has no effect: the preset lists the allowed tenants; remove it, or set tenants")
    }

    @Test func `two Microsoft tenants stand side by side, a tenant and all of them do not`() throws {
        func two(_ first: String, _ second: String) -> String {
            "providers:\n"
                + [("a", first), ("b", second)].map { id, tenant in
                    "  - { id: \(id), preset: microsoft, tenant: \(tenant), audiences: [a] }\n"
                }.joined()
        }
        #expect(try settings(two(Self.uuid, "consumers")).providers.count == 2)
        #expect(try settings(two("organizations", "consumers")).providers.count == 2)
        #expect(throws: SettingsError.self) { try settings(two(Self.uuid, "common")) }
        #expect(throws: SettingsError.self) { try settings(two("organizations", Self.uuid)) }
    }

    @Test func `Clerk's session tokens need parties, its ID tokens audiences`() throws {
        let clerk = "preset: clerk\ndomain: clerk.example.com\n"
        let session = try read(provider: clerk + "audiences: none\nauthorized_parties: [https://example.com]").policy
        #expect((session.audiences, session.authorizedParties) == ([], ["https://example.com"]))
        #expect(try read(provider: clerk + "audiences: [client]").policy.authorizedParties == [])
        #expect(
            try fault(["preset: clerk", "domain: clerk.example.com"]).message.hasPrefix("provider p needs audiences"))
    }

    @Test func `LinkedIn's nonces are not looked at, and a warning says so`() throws {
        let settings = try settings("providers:\n  - { id: in, preset: linkedin, audiences: [a] }\n")
        #expect(settings.warnings == ["provider in: nonces are not checked (nonce.check: off)"])
        let checked = try read(provider: "preset: linkedin\naudiences: [a]\nnonce: { check: on }").policy
        #expect(checked.nonce.isChecked)
    }
}
