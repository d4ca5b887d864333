import IDToken
import Keys
import Settings
import Testing

/// Rules that an operator can write for a provider without a preset.
@Suite struct RuleTests {
    private func policy(_ lines: String) throws -> ProviderPolicy {
        try read(provider: "issuer: https://a.example\naudiences: [a]\n" + lines).policy
    }

    // MARK: Nonces

    @Test func `nonces that are used once are required, of tokens that are a day old at most`() throws {
        let usual = "issuer: https://a.example\naudiences: [a]\n"
        let once = try read(provider: usual + "nonce: { single_use: true }")
        #expect(once.usesNoncesOnce && once.policy.nonce.isRequired)
        #expect(once.policy.maximumTokenAgeSeconds == 86400)
        let shorter = try read(provider: usual + "max_token_age: 1h\nnonce: { single_use: true, required: true }")
        #expect(shorter.policy.maximumTokenAgeSeconds == 3600)
        let not = try read(provider: usual + "nonce: { single_use: false }")
        #expect(!not.usesNoncesOnce && !not.policy.nonce.isRequired && not.policy.maximumTokenAgeSeconds == nil)
    }

    // MARK: Issuers

    @Test func `an issuer may differ by tenant`() throws {
        let tenants = "issuer: 'https://a.example/{tid}/v2.0'\naudiences: [a]\njwks_uri: https://a.example/keys\n"
        let any = try read(provider: tenants + "issuer_aliases: ['https://old.example/{tid}/']").policy
        #expect(any.isIssuer("https://a.example/one/v2.0"))
        #expect(any.isIssuer("https://old.example/one/"))
        #expect(any.tenants == .any(except: []))
        #expect(try read(provider: tenants + "tenants: [one, two]").policy.tenants == .only(["one", "two"]))
        #expect(try read(provider: tenants + "excluded_tenants: [one]").policy.tenants == .any(except: ["one"]))
        #expect(try read(provider: tenants + "excluded_tenants: []").policy.tenants == .any(except: []))
        let keys = try read(provider: tenants + "key_issuers: ['https://a.example/{tid}/v2.0']").policy.keyIssuers
        #expect(keys == [IssuerTemplate("https://a.example/{tid}/v2.0")])
    }

    private static let tenants = "issuer: 'https://a.example/{tid}'\naudiences: [a]\njwks_uri: https://a.example/k\n"
    private static let exact = "issuer: https://a.example\naudiences: [a]\n"

    @Test(
        arguments: [
            (tenants + "tenants: []", 6, "tenants must name at least one"),
            (tenants + "tenants: [a]\nexcluded_tenants: [b]", 6, "set tenants or excluded_tenants"),
            (exact + "tenants: [a]", 5, "tenants needs a tenant claim in issuer"),
            (exact + "excluded_tenants: [a]", 5, "tenants needs a tenant claim in issuer"),
            (exact + "issuer_aliases: ['https://b.example/{tid}']", 5, "each of issuer_aliases must be an issuer"),
            (tenants + "issuer_aliases: [https://b.example]", 6, "each of issuer_aliases must be an issuer"),
            (tenants + "issuer_aliases: ['https://b.example/{org}']", 6, "each of issuer_aliases must be an issuer"),
            (tenants + "issuer_aliases: ['https://b.example/{tid']", 6, "each of issuer_aliases must be an issuer"),
            (exact + "key_issuers: [https://a.example]", 5, "each of key_issuers must be an issuer with the name"),
            ("issuer: 'https://a.example/{a}/{b}'\naudiences: [a]", 3, "issuer must have exactly one claim in braces"),
            ("issuer: 'https://a.example/{a'\naudiences: [a]", 3, "issuer must have exactly one claim in braces"),
            (
                "issuer: 'https://a.example/{tid}'\naudiences: [a]", 3,
                "an issuer with a claim in braces has no discovery document of its own"
            ),
            (
                "issuer: 'https://a.example/{tid}'\naudiences: [a]\ndiscovery_url: https://a.example/d", 3,
                "an issuer with a claim in braces has no discovery document of its own"
            ),
        ] as [(String, Int, String)])
    func `tenants without a tenant claim are rejected`(text: String, line: Int, message: String) throws {
        let fault = try fault("providers:\n  - id: p\n" + indented(text))
        #expect(fault.line == line)
        #expect(fault.message.hasPrefix(message), "\(fault.message)")
    }

    @Test func `providers of the same template differ in their tenants, or are refused`() throws {
        func two(_ first: String, _ second: String) -> String {
            let common = "issuer: 'https://a.example/{t}', audiences: [a], jwks_uri: https://a.example/k"
            return "providers:\n  - { id: a, \(common)\(first) }\n  - { id: b, \(common)\(second) }\n"
        }
        #expect(try settings(two(", tenants: [x]", ", tenants: [y]")).providers.count == 2)
        #expect(try settings(two(", tenants: [x]", ", excluded_tenants: [x]")).providers.count == 2)
        for (first, second) in [("", ""), (", tenants: [x]", ""), (", tenants: [x]", ", tenants: [y, x]")] {
            let fault = try fault(two(first, second))
            #expect(fault.line == 3)
            #expect(fault.message.hasPrefix("providers a and b have the same issuer or alias"))
        }
    }

    // MARK: Keys

    @Test func `a discovery document may name another issuer, but which one must be said`() throws {
        let issuer = "https://d.example"
        let at = try read(
            provider: Self.exact + "discovery_url: https://d.example/d\ndiscovery_issuer: https://d.example")
        #expect(at.keys == .discovery(of: at.policy, url: "https://d.example/d", issuer: issuer))
        let below = try read(provider: Self.exact + "discovery_issuer: https://d.example")
        #expect(below.keys == .discovery(of: below.policy, issuer: issuer))
        for elsewhere in ["jwks_uri: https://a.example/k", "jwks_file: /f", "certificates_uri: https://a.example/c"] {
            let fault = try fault(
                "providers:\n  - id: p\n" + indented(Self.exact + elsewhere + "\ndiscovery_issuer: https://d.example"))
            #expect(fault.line == 6)
            #expect(fault.message.hasPrefix("discovery_issuer has no effect"), "\(fault.message)")
        }
    }

    @Test func `keys may be certificates`() throws {
        let uri = "certificates_uri: https://a.example/c"
        #expect(try read(provider: Self.exact + uri).keys == .network(.certificates(address: "https://a.example/c")))
        #expect(
            try read(provider: Self.exact + uri + "\njwks_file: /f").keys
                == .network(.certificates(address: "https://a.example/c"), fallbackFile: "/f"))
        for other in ["jwks_uri", "discovery_url"] {
            let text = Self.exact + uri + "\n\(other): https://a.example/x"
            #expect(try fault("providers:\n  - id: p\n" + indented(text)).message.hasPrefix("set only one of"))
        }
        let http = "certificates_uri: http://a.example/c"
        #expect(
            try fault("providers:\n  - id: p\n" + indented(Self.exact + http)).message.hasPrefix(
                "certificates_uri must be"))
    }

    // MARK: Audiences

    @Test func `a provider whose tokens are for no audience says so, and has authorized parties`() throws {
        let lines = "issuer: https://a.example\naudiences: none\n"
        let policy = try read(provider: lines + "authorized_parties: [https://app.example]").policy
        #expect(policy.audiences == [])
        #expect(policy.authorizedParties == ["https://app.example"])
        for parties in ["", "authorized_parties: []"] {
            let fault = try fault("providers:\n  - id: p\n" + indented(lines + parties))
            #expect(fault.line == 4)
            #expect(fault.message == "audiences: none needs authorized_parties")
        }
        #expect(try read(provider: "issuer: https://a.example\naudiences: [none]").policy.audiences == ["none"])
    }

    @Test(arguments: ["", "audiences: []\n", "audiences:\n"])
    func `audiences that were forgotten are missed, authorized parties or not`(audiences: String) throws {
        let lines = "issuer: https://a.example\nauthorized_parties: [https://app.example]\n" + audiences
        _ = try fault("providers:\n  - id: p\n" + indented(lines))
    }

    // MARK: Claims

    @Test func `claim_values accepts one or several values`() throws {
        let rules = try policy(
            """
            claim_values: { token_use: [id], hd: example.com, email_verified: true, "/firebase/tenant": [a, b] }
            refused_claim_values:
              sts: pending
            """
        ).claimRules
        #expect(
            rules == [
                ClaimRule(ClaimPath("token_use"), .oneOf, ["id"]), ClaimRule(ClaimPath("hd"), .oneOf, ["example.com"]),
                ClaimRule(ClaimPath("email_verified"), .oneOf, ["true"]),
                ClaimRule(ClaimPath("/firebase/tenant"), .oneOf, ["a", "b"]),
                ClaimRule(ClaimPath("sts"), .noneOf, ["pending"]),
            ])
        #expect(try policy("claim_values:\nrefused_claim_values: {}").claimRules == [])
    }

    @Test(
        arguments: [
            ("claim_values: [hd]", 5, "found a list; expected a mapping"),
            ("claim_values: hd", 5, "found \"hd\"; expected a mapping"),
            ("claim_values: { hd: }", 5, "hd must be a value or a list of values"),
            ("claim_values:\n  hd: [a, ~]", 6, "hd must be a value or a list of values"),
            ("claim_values:\n  hd: { a: b }", 6, "hd must be a value or a list of values"),
            ("claim_values:\n  hd: [[a]]", 6, "hd must be a value or a list of values"),
            ("claim_values: { hd: [] }", 5, "hd must have at least one value"),
            ("refused_claim_values: { hd: [] }", 5, "hd must have at least one value"),
            ("claim_values: { hd: a, hd: b }", 5, "duplicate key hd"),
            ("identity: { emial: emails }", 5, "unknown setting emial"),
            ("identity: [email]", 5, "found a list; expected a mapping"),
            ("identity: { email: [emails] }", 5, "email must be a string"),
            ("email: { verified: none }", 5, "unknown setting verified"),
            ("email: { trust_hosted_domain: maybe }", 5, "trust_hosted_domain must be true or false"),
            ("email: { authoritative_domains: a.example }", 5, "authoritative_domains must be a list"),
            ("real_user_status: 1", 5, "real_user_status must be true or false"),
        ] as [(String, Int, String)])
    func `an empty rule is rejected`(text: String, line: Int, message: String) throws {
        let fault = try fault("providers:\n  - id: p\n" + indented(Self.exact + text))
        #expect(fault.line == line)
        #expect(fault.message.hasPrefix(message), "\(fault.message)")
    }

    // MARK: Identity

    @Test func `members of the identity come from the claims that are named`() throws {
        let claims = try policy("identity: { email: emails, preferred_username: 'cognito:username', tenant: /o/id }")
            .identityClaims
        #expect(
            claims == [
                .email: ClaimPath("emails"), .preferredUsername: ClaimPath("cognito:username"),
                .tenant: ClaimPath("/o/id"),
            ])
        #expect(try policy("identity: { email: email, tenant: tid }").identityClaims == [:])
    }

    @Test func `a hosted domain and a transfer subject are a provider's if the settings say so`() throws {
        let usual = try policy("identity: { hosted_domain: hd, transfer_subject: transfer_sub }")
        #expect(usual.reportsHostedDomain && usual.reportsTransferSubject && usual.identityClaims == [:])
        let named = try policy("identity: { hosted_domain: domain, transfer_subject: /old/sub }")
        #expect(!named.reportsHostedDomain && !named.reportsTransferSubject)
        #expect(
            named.identityClaims == [.hostedDomain: ClaimPath("domain"), .transferSubject: ClaimPath("/old/sub")])
        #expect(try policy("").reportsHostedDomain == false)
        let google = try read(provider: "preset: google\naudiences: [a]\nidentity: { hosted_domain: none }").policy
        #expect(!google.reportsHostedDomain && google.identityClaims == [:])
    }

    @Test func `email trust can be configured`() throws {
        let rule = try policy(
            "email: { verified_claim: xms_edov, authoritative_domains: [a.example], trust_hosted_domain: true }"
        )
        .email
        #expect(rule.verification == .claim(ClaimPath("xms_edov")))
        #expect(rule.authoritativeDomains == ["a.example"])
        #expect(rule.trustsHostedDomain)
        #expect(try policy("email: { verified_claim: none }").email.verification == .nothing)
        #expect(try policy("email: { verified_claim: email_verified }").email == EmailRule())
        #expect(try policy("real_user_status: true").reportsRealUserStatus)
    }
}
