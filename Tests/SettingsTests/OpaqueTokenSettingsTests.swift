import HTTP
import IDToken
import OAuth
@testable import Settings
import Testing
import Verification

@Suite struct OpaqueTokenSettingsTests {
    private static let client = "clients: [ { id: api, auth: client_secret_basic, secret_file: /s } ]"
    private static let opaque = """
        tokens: opaque
        issuer: https://op.example
        audiences: [https://api.example]
        \(client)
        """

    private func fault(ofProvider text: String) throws -> String {
        try SettingsTests.fault("providers:\n  - id: p\n" + indented(text)).message
    }

    @Test func `a provider with opaque tokens is asked by one client with any id`() throws {
        let provider = try read(provider: Self.opaque)
        #expect(provider.introspection == IntrospectionRules())
        #expect(provider.accessTokens != nil && provider.clients.map(\.client.id) == ["api"])
        #expect(provider.maximumCalls == 256)
        #expect(provider.keptConnections == 256)
        #expect(!provider.policy.issuesTokensOfSignIns)
        #expect(try read(provider: Self.opaque + "\nmax_calls: 7").maximumCalls == 7)
        #expect(try read(provider: "issuer: https://op.example\naudiences: [a]").introspection == nil)
    }

    @Test func `how it is asked can be set`() throws {
        let text = "\nintrospection: { cache: 30s, endpoint: \"https://op.example/i\", signed: required }"
        let rules = try #require(read(provider: Self.opaque + text).introspection)
        #expect(rules.cachePeriod == .seconds(30))
        #expect(rules.endpoint == "https://op.example/i")
        #expect(rules.mustBeSigned)
        #expect(try settings(provider + "introspection: { entries: 5 }\n").introspectionEntries == 5)
        #expect(try settings(provider).introspectionEntries == 10_000)
    }

    @Test(arguments: [
        ("introspection: { cache: 2h }", "cache must be"), ("introspection: { signed: maybe }", "signed must be"),
        ("introspection: { endpoint: \"http://op.example/i\" }", "endpoint must be"),
        ("jwks_uri: https://op.example/keys", "introspection.endpoint is needed"),
        ("nonce: { required: true }", "nonce has rules for ID Tokens, but tokens: opaque"),
        ("token_types: [JWT]", "token_types needs tokens: access"),
        ("client_claims: [azp]", "client_claims needs tokens: access"),
        ("access_token_claim: scope", "access_token_claim needs tokens: access"),
        ("user_info: true", "user_info is only for ID Tokens"),
        ("notifications: [logout]", "notifications is only for ID Tokens"),
        ("endpoints: { revocation: \"https://op.example/r\" }", "revocation is not called for opaque tokens"),
        ("required_scopes: []", "must name at least one scope"),
    ])
    func `settings that can't be are refused`(line: String, message: String) throws {
        #expect(try fault(ofProvider: Self.opaque + "\n" + line).contains(message))
    }

    @Test func `without audiences a client or a scope must tie tokens to the API`() throws {
        let open = Self.opaque.replacing("[https://api.example]", with: "none")
        #expect(try fault(ofProvider: open).contains("authorized_parties or required_scopes"))
        #expect(try read(provider: open + "\nauthorized_parties: [app]").policy.audiences == [])
        let scoped = try read(provider: open + "\nrequired_scopes: [a]")
        #expect(scoped.accessTokens?.requiredScopes == ["a"])
        let access = "tokens: access\nissuer: https://op.example\naudiences: [a]\nrequired_scopes: [a]"
        #expect(try fault(ofProvider: access).contains("required_scopes needs tokens: opaque"))
    }

    @Test func `there is exactly one client, and it signs nobody in`() throws {
        let none = Self.opaque.replacing(Self.client, with: "")
        #expect(try fault(ofProvider: none).contains("needs one client"))
        let two = "clients: [ { id: a, auth: none }, { id: b, auth: none } ]"
        #expect(try fault(ofProvider: Self.opaque.replacing(Self.client, with: two)).contains("found 2"))
        let signsIn = "clients: [ { id: a, auth: none, redirect_uris: [\"https://a.example/c\"] } ]"
        #expect(
            try fault(ofProvider: Self.opaque.replacing(Self.client, with: signsIn)).contains(
                "redirect_uris is only for sign-ins"))
    }

    @Test func `introspection needs opaque tokens, and they need one issuer`() throws {
        let access = "tokens: access\nissuer: https://op.example\naudiences: [a]\nintrospection: { cache: 1s }"
        #expect(try fault(ofProvider: access).contains("introspection needs tokens: opaque"))
        let template =
            "tokens: opaque\nissuer: \"https://op.example/{tid}\"\naudiences: [a]\n\(Self.client)\ndiscovery_url: https://op.example/d\ndiscovery_issuer: https://op.example"
        #expect(try fault(ofProvider: template).contains("needs one issuer"))
        let gateway = "preset: pomerium\nroute: a.example.com\ntokens: opaque\naudiences: [a]\n\(Self.client)"
        let faults = try faults("providers:\n  - id: p\n" + indented(gateway))
        #expect(faults.contains { $0.message.contains("neither ID Tokens nor opaque") })
    }

    @Test func `an issuer may have one entry of each kind`() throws {
        let all = ["", "tokens: access\n", "tokens: opaque\n" + Self.client + "\n"].enumerated().map { index, kind in
            "  - id: p\(index)\n" + indented(kind + "issuer: https://op.example\naudiences: [a]")
        }
        #expect(try settings("providers:\n" + all.joined()).providers.count == 3)
        let second = all[2].replacing("p2", with: "p3")
        #expect(try SettingsTests.fault("providers:\n" + all.joined() + second).message.contains("same issuer"))
    }

    @Test func `a policy may have one entry with opaque tokens, of any issuer`() throws {
        func policies(_ ids: String) -> String {
            let kinds = [
                "tokens: access\n", "tokens: opaque\n" + Self.client + "\n", "tokens: opaque\n" + Self.client + "\n",
            ]
            let entries = kinds.enumerated().map { index, kind in
                "  - id: p\(index)\n"
                    + indented(kind + "issuer: https://op\(index == 2 ? "2" : "").example\naudiences: [a]")
            }
            return "providers:\n" + entries.joined()
                + "forward_auth: { introspection_timeout: 2s, policies: [ { id: a, providers: [\(ids)], headers: { X-I: issuer } } ] }\n"
        }
        #expect(try settings(policies("p0, p1")).forwardAuth.introspectionTimeoutMilliseconds == 2000)
        #expect(try SettingsTests.fault(policies("p1, p2")).message.contains("both have opaque tokens"))
    }
}
