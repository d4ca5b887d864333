import IDToken
import Keys
@testable import Settings
import Testing

/// The presets of gateways, which verify assertions and nothing else.
@Suite struct GatewaySettingsTests {
    private static let arn =
        "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188"
    private static let loadBalancer = """
        preset: aws-alb
        signer: \(arn)
        client: my-client
        issuer: https://op.example

        """
    private static let cloudflare = "preset: cloudflare-access\ndomain: example.cloudflareaccess.com\naudiences: [a]\n"

    private func message(_ lines: String) throws -> String {
        try fault("providers:\n  - id: p\n" + indented(lines)).message
    }

    @Test func `tokens need not be said, and can't be ID Tokens`() throws {
        let iap = "preset: google-iap\naudiences: [/projects/1/apps/a]\n"
        for lines in [iap, iap + "tokens: access"] {
            let provider = try read(provider: lines)
            #expect(provider.accessTokens?.clientClaims == [])
            #expect(!provider.policy.issuesTokensOfSignIns)
            #expect(provider.policy.audiences == ["/projects/1/apps/a"])
            #expect(provider.warnings == [])
        }
        #expect(
            try message(iap + "tokens: id")
                == "preset google-iap verifies a gateway's assertions, which are neither ID Tokens nor opaque; remove tokens: id"
        )
        #expect(
            try message(iap + "nonce: { required: true }").hasPrefix(
                "nonce has rules for ID Tokens, but tokens: access"))
    }

    @Test func `Pomerium's audience is the route`() throws {
        let provider = try read(provider: "preset: pomerium\ndomain: app.example.com")
        #expect(provider.policy.audiences == ["app.example.com"])
        #expect(provider.keys == .network(.jwkSet(address: "https://app.example.com/.well-known/pomerium/jwks.json")))
    }

    @Test func `service tokens are accepted only if the settings say so`() throws {
        #expect(try read(provider: Self.cloudflare).accessTokens?.acceptsServiceTokens == false)
        #expect(
            try read(provider: Self.cloudflare + "service_tokens: false").accessTokens?.acceptsServiceTokens == false)
        #expect(try read(provider: Self.cloudflare + "service_tokens: true").accessTokens?.acceptsServiceTokens == true)
        for other in ["preset: google\naudiences: [a]\n", "preset: google-iap\naudiences: [a]\n"] {
            #expect(
                try message(other + "service_tokens: true")
                    == "service_tokens is only for preset cloudflare-access; remove it")
        }
    }

    @Test func `bound tokens are accepted only if the settings say so, which is warned about`() throws {
        let access = "preset: keycloak\nissuer: https://a.example\ntokens: access\naudiences: [a]\n"
        #expect(try read(provider: access).accessTokens?.acceptsUncheckedBindings == false)
        let lax = try read(provider: access + "unchecked_bindings: true")
        #expect(lax.accessTokens?.acceptsUncheckedBindings == true)
        #expect(lax.warnings.contains { $0.contains("unchecked_bindings") })
        #expect(
            try message("preset: google\naudiences: [a]\nunchecked_bindings: true")
                == "unchecked_bindings needs tokens: access or opaque, because ID Tokens are never bound to a key; remove it"
        )
        #expect(try read(provider: access).accessTokens?.requiredBinding == nil)
        #expect(try message(access + "binding: dpop").contains("has binding: dpop, but proofs are not checked"))
        for binding in [RequiredBinding.certificate, .any] {
            let entry = access + "binding: \(binding.rawValue)\n"
            #expect(try read(provider: entry).accessTokens?.requiredBinding == binding)
            #expect(
                try message(entry + "unchecked_bindings: true").hasPrefix("unchecked_bindings accepts tokens whose"))
            #expect(try read(provider: entry + "unchecked_bindings: false").accessTokens?.requiredBinding == binding)
        }
        #expect(
            try message("preset: google\naudiences: [a]\nbinding: any")
                == "binding needs tokens: access or opaque, because ID Tokens are never bound to a key; remove it")
    }

    @Test func `the audience of every app in Expo Go is warned about`() throws {
        func warnings(_ audience: String) throws -> [String] {
            try read(provider: "preset: apple\naudiences: [\(audience)]\n").warnings
        }
        #expect(try warnings("com.example.app").isEmpty)
        #expect(try warnings("com.example.app, host.exp.Exponent").contains { $0.contains("every app in Expo Go") })
    }

    @Test func `the discovery document's algorithms are those of ID Tokens alone`() throws {
        let provider = "issuer: https://a.example\naudiences: [a]\n"
        func readsAlgorithms(_ text: String) throws -> Bool? {
            guard case .network(.discovery(_, _, _, let reads), _) = try read(provider: text).keys else { return nil }
            return reads
        }
        #expect(try readsAlgorithms(provider) == true)
        #expect(try readsAlgorithms(provider + "tokens: access") == false)
    }

    @Test func `a load balancer's assertions are for its client, and have no audience`() throws {
        let provider = try read(provider: Self.loadBalancer)
        #expect(provider.policy.audiences == [])
        #expect(provider.policy.authorizedParties == ["my-client"])
        #expect(provider.accessTokens?.loadBalancer == Self.arn)
        #expect(
            provider.keys
                == .network(.publicKeys(address: "https://public-keys.auth.elb.eu-west-1.amazonaws.com/{kid}")))
        #expect(try read(provider: Self.loadBalancer + "audiences: none").policy.audiences == [])
        #expect(
            try read(provider: Self.loadBalancer + "authorized_parties: [a, b]").policy.authorizedParties == ["a", "b"])
        #expect(try message(Self.loadBalancer + "audiences: [a]").hasPrefix("a load balancer's assertions have no aud"))
        #expect(try message(Self.loadBalancer + "max_token_age: 1h").hasPrefix("max_token_age needs iat"))
    }

    @Test func `the address of public keys can be said, for load balancers alone`() throws {
        let uri = "public_key_uri: \"https://keys.example/{kid}\"\n"
        #expect(
            try read(provider: Self.loadBalancer + uri).keys
                == .network(.publicKeys(address: "https://keys.example/{kid}")))
        for other in [
            "preset: google\naudiences: [a]\n", "issuer: https://a.example\naudiences: [a]\n", Self.cloudflare,
        ] {
            #expect(try message(other + uri).hasPrefix("public_key_uri is only for preset aws-alb"))
        }
        for bad in ["https://keys.example/", "https://keys.example/{kid}/{kid}", "https://keys.example/{id}"] {
            #expect(
                try message(Self.loadBalancer + "public_key_uri: \"\(bad)\"")
                    == "public_key_uri must contain {kid} once, in place of the key's ID")
        }
        #expect(try message(Self.loadBalancer + "public_key_uri: \"http://keys.example/{kid}\"").contains("https://"))
        #expect(try message(Self.loadBalancer + uri + "jwks_file: /f") == "set public_key_uri or jwks_file, not both")
        #expect(try message(Self.loadBalancer + uri + "jwks_uri: https://a.example").hasPrefix("set only one of"))
    }

    @Test func `where AWS documents no address of keys, the settings must say it`() throws {
        let china = Self.loadBalancer.replacing("arn:aws:", with: "arn:aws-cn:")
        #expect(try message(china).hasPrefix("provider p needs public_key_uri"))
        let uri = "public_key_uri: \"https://keys.example/{kid}\""
        #expect(try read(provider: china + uri).keys == .network(.publicKeys(address: "https://keys.example/{kid}")))
    }

    @Test func `load balancers share an issuer with each other and with its own entries, but no signer`() throws {
        func entries(_ lines: String...) -> String {
            "providers:\n" + lines.enumerated().map { "  - id: p\($0)\n" + indented($1) }.joined()
        }
        let other = Self.loadBalancer.replacing("app/web", with: "app/other")
        let own = "issuer: https://op.example\naudiences: [a]\n"
        let all = entries(Self.loadBalancer, other, own, own + "tokens: access")
        #expect(try settings(all).providers.count == 4)
        #expect(
            try fault(entries(Self.loadBalancer, Self.loadBalancer)).message
                == "providers p0 and p1 have the same signer and issuer; list all clients in authorized_parties of one of them"
        )
        #expect(
            try settings(
                entries(Self.loadBalancer, Self.loadBalancer.replacing("op.example", with: "other.example"))
            ).providers.count == 2)
    }
}
