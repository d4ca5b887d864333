import HTTP
import IDToken
import Keys
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
        "notifications: [logout]", "refuse_access_tokens: true", "user_info: true",
    ])
    func `settings of ID Tokens are refused beside access tokens`(line: String) throws {
        let name = line.prefix { $0 != ":" }
        let messages = try faults("providers:\n  - id: p\n" + indented(Self.api + "\n" + line)).map(\.message)
        #expect(
            messages.contains("\(name) is only for ID Tokens, but tokens: access verifies access tokens; remove it"))
    }

    @Test func `nonce is about DPoP proofs`() throws {
        let text = "providers:\n  - id: p\n" + indented(Self.api + "\nnonce: { required: true }")
        #expect(
            try fault(text).message
                == "nonce has rules for ID Tokens, but tokens: access verifies access tokens; write required or off, for the nonces of DPoP proofs, or remove it"
        )
    }

    @Test func `authorization needs access tokens`() throws {
        let text = "issuer: https://op.example\naudiences: [a]\nauthorization: { roles: r }"
        #expect(
            try fault("providers:\n  - id: p\n" + indented(text)).message
                == "authorization needs tokens: access or opaque, because ID Tokens grant nothing; remove it")
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

/// `token_types`, `client_claims` and `access_token_claim`: access tokens that follow no specification.
@Suite struct AccessTokenDialectSettingsTests {
    private func read(_ members: String, preset: String = "oidc", issuer: String = "https://a.example") throws
        -> ProviderSettings
    {
        try SettingsTests.read(
            provider: "preset: \(preset)\nissuer: \(issuer)\ntokens: access\naudiences: [a]\n\(members)")
    }

    @Test func `by default, tokens follow RFC 9068`() throws {
        let provider = try read("")
        #expect(provider.accessTokens?.types == [.accessToken])
        #expect(provider.accessTokens?.clientClaims == [ClaimName("client_id")])
        #expect(provider.accessTokens?.accessTokenClaim == nil)
        #expect(provider.policy.requiredClaims == [ClaimName("jti")])
    }

    @Test func `types of ID Tokens need a claim that they lack, and no jti`() throws {
        let provider = try read("token_types: [at+jwt, JWT, \"\"]\naccess_token_claim: scope")
        #expect(provider.accessTokens?.types == Set(AccessTokenType.allCases))
        #expect(provider.accessTokens?.accessTokenClaim == ClaimName("scope"))
        #expect(provider.policy.requiredClaims.isEmpty)
        for types in ["[JWT]", "[at+jwt, \"\"]"] {
            #expect(throws: SettingsError.self) { try read("token_types: \(types)") }
        }
        #expect(throws: SettingsError.self) { try read("access_token_claim: scope") }
        #expect(throws: SettingsError.self) { try read("token_types: [at+jwt]\naccess_token_claim: scope") }
        // A preset knows how to tell the kinds apart.
        #expect(try read("token_types: [JWT]", preset: "keycloak").accessTokens?.types == [.jwt])
        #expect(try read("access_token_claim: uid", preset: "keycloak").accessTokens?.accessTokenClaim != nil)
    }

    @Test func `the client may be in other claims, or in none`() throws {
        let named = try read("client_claims: [azp, cid]").accessTokens
        #expect(named?.clientClaims == [ClaimName("azp"), ClaimName("cid")])
        #expect(named?.requiresClient == true)
        let none = try read("client_claims: []").accessTokens
        #expect(none?.clientClaims.isEmpty == true)
        #expect(none?.requiresClient == false)
    }

    @Test(arguments: [
        "token_types: []", "token_types: [jwt]", "token_types: [at+jwt, id+jwt]", "client_claims: [\"\"]",
        "access_token_claim: \"\"", "token_types: JWT",
    ])
    func `other values are refused`(member: String) {
        #expect(throws: SettingsError.self) { try read(member) }
    }

    @Test(arguments: ["token_types: [JWT]", "client_claims: [azp]", "access_token_claim: scope"])
    func `ID Tokens have no such settings`(member: String) {
        #expect(throws: SettingsError.self) {
            try SettingsTests.read(provider: "issuer: https://a.example\naudiences: [a]\n\(member)")
        }
    }

    @Test func `a key set of one client needs no audience`() throws {
        let text = "preset: workos-authkit\nclient: client_01\ntokens: access\n"
        let provider = try SettingsTests.read(provider: text)
        #expect(provider.policy.audiences.isEmpty)
        #expect(provider.policy.issuer == "https://api.workos.com/user_management/client_01")
        #expect(provider.keys == .network(.jwkSet(address: "https://api.workos.com/sso/jwks/client_01")))
        #expect(try SettingsTests.read(provider: text + "audiences: none").policy.audiences.isEmpty)
        #expect(try SettingsTests.read(provider: text + "audiences: [a]").policy.audiences == ["a"])
        #expect(throws: SettingsError.self) { try SettingsTests.read(provider: text + "audiences: []") }
    }

    @Test func `discovery may be of one kind`() throws {
        func addresses(_ provider: ProviderSettings) -> [String]? {
            guard case .network(.discovery(let address, let others, _, _), _) = provider.keys else { return nil }
            return [address] + others
        }
        let openid = "https://a.example/op/.well-known/openid-configuration"
        let oauth = "https://a.example/.well-known/oauth-authorization-server/op"
        let inserted = "https://a.example/.well-known/openid-configuration/op"
        func read(_ members: String) throws -> [String]? {
            addresses(try self.read(members, issuer: "https://a.example/op"))
        }
        #expect(try read("") == [openid, oauth, inserted])
        #expect(try read("discovery: openid") == [openid])
        #expect(try read("discovery: oauth") == [oauth])
        #expect(
            addresses(try self.read("")) == [
                "https://a.example/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server",
            ])
        let ofIDTokens = try SettingsTests.read(provider: "issuer: https://a.example/op\naudiences: [a]")
        #expect(addresses(ofIDTokens) == [openid])
        for members in ["discovery: saml", "discovery: oauth\njwks_uri: https://a.example/k"] {
            #expect(throws: SettingsError.self) { try read(members) }
        }
        #expect(throws: SettingsError.self) {
            try SettingsTests.read(provider: "issuer: https://a.example\naudiences: [a]\ndiscovery: oauth")
        }
    }
}

/// `limits.max_token`.
@Suite struct LongTokenSettingsTests {
    private func limits(_ text: String) throws -> Settings.Limits {
        try settings("limits: { \(text) }\n" + provider).limits
    }

    @Test func `a longer token raises the defaults of other limits`() throws {
        #expect(try limits("max_token: 16KiB").listener.maximumHeader == 16 * 1024)
        #expect(try limits("max_token: 16KiB").maximumBody == 64 * 1024)
        let raised = try limits("max_token: 48KiB")
        #expect(raised.maximumToken == 48 * 1024)
        #expect(raised.listener.maximumHeader == 64 * 1024)
        #expect(raised.maximumBody == 96 * 1024)
        let given = try limits("max_token: 48KiB, max_header: 32KiB, max_body: 1MiB")
        #expect(given.listener.maximumHeader == 32 * 1024)
        #expect(given.maximumBody == 1024 * 1024)
    }

    @Test func `an explicit limit that is too low is warned about`() throws {
        func warnings(_ text: String) throws -> [String] {
            try settings("limits: { \(text) }\n" + provider).warnings.filter { $0.contains("max_token") }
        }
        #expect(try warnings("max_token: 32KiB, max_header: 32KiB").count == 1)
        #expect(try warnings("max_token: 32KiB, max_header: 32KiB, max_body: 64KiB").count == 2)
        #expect(try warnings("max_token: 32KiB").isEmpty)
        #expect(try warnings("max_header: 8KiB").isEmpty)
    }

    @Test(arguments: ["max_token: 49KiB", "max_token: 512", "max_token: x"])
    func `other values are refused`(text: String) {
        #expect(throws: SettingsError.self) { try limits(text) }
    }
}
