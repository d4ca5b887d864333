import IDToken
@testable import Settings
import Testing

@Suite struct AccessTokenSettingsTests {
    private static let api = """
        tokens: access
        issuer: https://op.example
        audiences: [api]
        """

    @Test func `ID Tokens are verified unless access tokens are asked for`() throws {
        #expect(try read(provider: "issuer: https://op.example\naudiences: [a]").accessTokens == nil)
        #expect(try read(provider: "tokens: id\nissuer: https://op.example\naudiences: [a]").accessTokens == nil)
        let provider = try read(provider: Self.api)
        #expect(provider.accessTokens?.types == [.accessToken])
        #expect(provider.policy.requiredClaims == [ClaimName("jti")])
        #expect(!provider.policy.issuesTokensOfSignIns)
        #expect(!provider.warnings.contains { $0.contains("access token could pass") })
    }

    @Test func `a preset's rules for access tokens replace those for ID Tokens, and the settings' add to them`() throws
    {
        let text = """
            preset: keycloak
            issuer: https://kc.example/realms/shop
            tokens: access
            audiences: [api]
            required_claims: [acr]
            claim_values: { azp: [shop] }
            """
        let policy = try read(provider: text).policy
        #expect(
            policy.claimRules == [
                ClaimRule(ClaimPath("typ"), .oneOf, ["Bearer"]), ClaimRule(ClaimPath("azp"), .oneOf, ["shop"]),
            ])
        #expect(policy.requiredClaims == [ClaimName("acr")])
    }

    @Test func `claims of authorization can be named`() throws {
        let dialect = try #require(
            read(provider: Self.api + "\nauthorization: { roles: \"https://a.example/roles\", groups: /a/b }")
                .accessTokens)
        #expect(dialect.authorization.roles == ClaimPath("https://a.example/roles"))
        #expect(dialect.authorization.groups == ClaimPath("/a/b"))
        #expect(dialect.authorization.entitlements == ClaimPath("entitlements"))
    }

    @Test func `opaque access tokens are named and refused`() throws {
        for preset in ["apple", "google", "slack", "gitlab"] {
            let text = "providers:\n  - id: p\n" + indented("preset: \(preset)\ntokens: access\naudiences: [a]")
            #expect(
                try fault(text).message
                    == "access tokens of preset \(preset) can't be verified: only the provider can read them")
        }
        let okta =
            "providers:\n  - id: p\n" + indented("preset: okta\ndomain: a.okta.com\ntokens: access\naudiences: [a]")
        #expect(try fault(okta).message.contains("authorization_server"))
    }

    @Test(arguments: [
        "nonce: { required: true }", "notifications: [logout]", "refuse_access_tokens: true", "user_info: true",
    ])
    func `settings of ID Tokens are refused beside access tokens`(line: String) throws {
        let name = line.prefix { $0 != ":" }
        let messages = try faults("providers:\n  - id: p\n" + indented(Self.api + "\n" + line)).map(\.message)
        #expect(
            messages.contains("\(name) is only for ID Tokens, but tokens: access verifies access tokens; remove it"))
    }

    @Test func `authorization needs access tokens`() throws {
        let text = "issuer: https://op.example\naudiences: [a]\nauthorization: { roles: r }"
        #expect(
            try fault("providers:\n  - id: p\n" + indented(text)).message
                == "authorization needs tokens: access, because ID Tokens grant nothing; remove it")
    }

    @Test func `an issuer may have one entry of each kind`() throws {
        func entries(_ kinds: String...) -> String {
            "providers:\n"
                + kinds.enumerated().map { index, kind in
                    "  - id: p\(index)\n" + indented("issuer: https://op.example\naudiences: [a]\ntokens: \(kind)")
                }.joined()
        }
        #expect(try settings(entries("id", "access")).providers.map { $0.accessTokens == nil } == [true, false])
        for kinds in [["id", "id"], ["access", "access"]] {
            #expect(try fault(entries(kinds[0], kinds[1])).message.contains("have the same issuer or alias"))
        }
        #expect(try fault(entries("id", "access", "access")).message.contains("have the same issuer or alias"))
    }

    @Test func `a provider with one kind of token has one entry`() throws {
        let entry = "preset: supabase\nproject: abc\n"
        let both = "providers:\n  - id: a\n" + indented(entry) + "  - id: b\n" + indented(entry + "tokens: access")
        #expect(try fault(both).message.contains("whose tokens are both ID Tokens and access tokens"))
        #expect(try settings("providers:\n  - id: b\n" + indented(entry + "tokens: access")).providers.count == 1)
    }
}
