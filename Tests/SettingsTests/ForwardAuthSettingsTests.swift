import IDToken
@testable import Settings
import Testing
import Verification

@Suite struct ForwardAuthSettingsTests {
    private static let providers = """
        providers:
          - { id: api, issuer: "https://op.example", audiences: [api], tokens: access }
          - { id: users, issuer: "https://op.example", audiences: [app] }
          - { id: others, issuer: "https://other.example", audiences: [app] }
          - { id: ms, preset: microsoft, tenant: common, audiences: [app] }

        """

    private func policies(_ yaml: String) throws -> ForwardAuthSettings {
        try settings(Self.providers + "forward_auth:\n  policies:\n" + yaml).forwardAuth
    }

    /// The only error in one policy.
    private func refusal(_ members: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let yaml = Self.providers + "forward_auth:\n  policies:\n    - { \(members) }\n"
        return try fault(yaml, sourceLocation: sourceLocation).message
    }

    @Test func `gateways are not answered unless the settings say so`() throws {
        #expect(try settings(Self.providers).forwardAuth == ForwardAuthSettings())
        for section in ["forward_auth: {}", "forward_auth: { policies: [] }", "forward_auth: { keys_timeout: 1s }"] {
            #expect(try fault(Self.providers + section + "\n").message.contains("at least one policy"))
        }
    }

    @Test func `a policy has the contract's defaults`() throws {
        let read = try policies("    - { id: api, providers: [api] }\n")
        #expect(read.keysTimeoutMilliseconds == 100)
        let policy = try #require(read.policies.first)
        #expect(policy == ForwardAuthPolicy(id: "api", providers: ["api"]))
        #expect(policy.sources == [.header("Authorization", scheme: "Bearer")])
        #expect(policy.requiresKey && !policy.stripsToken)
        let headers = policy.headers.map { "\($0.name): \($0.value.rawValue)" }
        #expect(
            headers == [
                "X-Auth-Subject: subject", "X-Auth-Issuer: issuer", "X-Auth-Email: email",
                "X-Auth-Email-Trust: email_trust", "X-Auth-Scopes: scopes",
            ])
    }

    @Test func `a policy with everything`() throws {
        let read = try policies(
            """
                - id: api
                  providers: [api]
                  token: [{ header: X-Token }, { header: Authorization, scheme: DPoP }]
                  require: { scopes: [read], claim_values: { hd: [a, b], staff: true }, email_domains: [example.com], email_trust: authoritative, max_age: 1h }
                  headers: { X-Who: subject }
                  require_key: false
                  strip_token: true

            """)
        var expected = ForwardAuthPolicy(
            id: "api", providers: ["api"],
            sources: [.header("X-Token", scheme: nil), .header("Authorization", scheme: "DPoP")],
            headers: [IdentityHeader("X-Who", .subject)], requiresKey: false, stripsToken: true)
        expected.requirements.scopes = ["read"]
        expected.requirements.claimRules = [
            ClaimRule(ClaimPath("hd"), .oneOf, ["a", "b"]), ClaimRule(ClaimPath("staff"), .oneOf, ["true"]),
        ]
        expected.requirements.emailDomains = ["example.com"]
        expected.requirements.emailTrust = .authoritative
        expected.requirements.maximumAgeSeconds = 3600
        #expect(read.policies == [expected])
    }

    @Test(arguments: [
        ("providers: [api]", "a policy needs id and providers"), ("id: a", "a policy needs id and providers"),
        ("id: a, providers: []", "must name at least one provider"),
        ("id: a_b, providers: [api]", "letters, digits and hyphens"),
        ("id: a, providers: [nobody]", "no provider has the id nobody"),
        ("id: a, providers: [api, users]", "have the same issuer"),
        ("id: a, providers: [api, API]", "no provider has the id API"),
        ("id: a, providers: [users], require: { scopes: [x] }", "users verifies ID Tokens, which grant no scopes"),
        ("id: a, providers: [api], require: { scopes: [\"a b\"] }", "a scope"),
        ("id: a, providers: [api], require: { email_trust: unverified }", "one of verified, authoritative"),
        ("id: a, providers: [api], require: { claim_values: { hd: [] } }", "at least one value"),
        ("id: a, providers: [api], require: { scopes: [] }", "at least one scope"),
        ("id: a, providers: [api], require: { email_domains: [] }", "at least one domain"),
        ("id: a, providers: [api], headers: { Proxy: subject }", "choose another name"),
        ("id: a, providers: [api], require: { scope: [x] }", "did you mean scopes?"),
        ("id: a, providers: [api], headers: { Host: subject }", "choose another name"),
        ("id: a, providers: [api], headers: { X_Who: subject }", "letters, digits and hyphens"),
        ("id: a, providers: [api], headers: { X-A: subject, x-a: email }", "many servers can't tell"),
        ("id: a, providers: [api], headers: { X-A: subjet }", "did you mean subject?"),
        ("id: a, providers: [api], headers: { X-A: [subject, email] }", "one of the values"),
        ("id: a, providers: [api], token: []", "at least one header or cookie"),
        ("id: a, providers: [api], token: [{}]", "either header"),
        ("id: a, providers: [api], token: [{ header: A, cookie: b }]", "either header"),
        ("id: a, providers: [api], token: [{ cookie: b, scheme: Bearer }]", "either header"),
        ("id: a, providers: [api], token: [{ cookie: s }], strip_token: true", "would remove all cookies"),
        ("id: a, providers: [api], strip_tokn: true", "did you mean strip_token?"),
    ])
    func `a faulty policy is refused`(members: String, message: String) throws {
        let refusal = try refusal(members)
        #expect(refusal.contains(message), "\(refusal)")
    }

    @Test func `a policy's name stands once`() throws {
        let twice =
            Self.providers
            + "forward_auth: { policies: [{ id: a, providers: [api] }, { id: a, providers: [users] }] }\n"
        #expect(try fault(twice).message == "the policy a is listed twice; rename one")
    }

    @Test func `with several issuers, the backend must be told which`() throws {
        let headers = "headers: { X-Who: subject }"
        for providers in ["api, others", "ms"] {
            #expect(try refusal("id: a, providers: [\(providers)], \(headers)").contains("several issuers"))
            #expect(try policies("    - { id: a, providers: [\(providers)] }\n").policies.count == 1)
            #expect(try policies("    - { id: a, providers: [\(providers)], headers: {} }\n").policies.count == 1)
        }
        let tenant = "11111111-2222-3333-4444-55555555aaaa"
        let oneTenant = Self.providers.replacing("tenant: common", with: "tenant: \(tenant)")
        let policy = "forward_auth: { policies: [{ id: a, providers: [ms], \(headers) }] }\n"
        #expect(try settings(oneTenant + policy).forwardAuth.policies.count == 1)
        #expect(try policies("    - { id: a, providers: [api], \(headers) }\n").policies.count == 1)
    }

    /// A nonce that the provider's entry requires does not help: a gateway's question has none.
    @Test(arguments: [
        ("nonce: { required: true }", true), ("preset: dex", true), ("required_claims: [auth_time]", false),
        ("claim_values: { typ: [ID] }", false), ("preset: keycloak", false), ("tokens: access", false),
    ])
    func `a policy that can't tell ID Tokens from access tokens is warned about`(line: String, warns: Bool) throws {
        let provider = "providers:\n  - id: p\n    issuer: https://op.example\n    audiences: [app]\n    \(line)\n"
        let policy = "forward_auth: { policies: [{ id: a, providers: [p] }] }\n"
        let warnings = try settings(provider + policy).warnings.filter { $0.hasPrefix("forward_auth policy a:") }
        #expect(warnings.count == (warns ? 1 : 0))
        #expect(warnings.allSatisfy { $0.contains("access token of p") && $0.contains("auth_time") })
    }

    @Test func `a policy without a key is warned about, unless only this machine can ask`() throws {
        let policy = "forward_auth: { policies: [{ id: a, providers: [api], require_key: false }] }\n"
        func warnings(_ listen: String) throws -> [String] {
            let keys = "api_keys: [\(String(repeating: "0", count: 64))]\n"
            return try settings(Self.providers + policy + keys + "service: { listen: \"\(listen)\" }\n").warnings
                .filter { $0.contains("require_key") }
        }
        #expect(try warnings("127.0.0.1:8080").isEmpty)
        #expect(try warnings("0.0.0.0:8080").count == 1)
    }
}
