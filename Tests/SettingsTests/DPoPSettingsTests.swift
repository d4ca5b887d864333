import IDToken
import JOSE
import Testing
import Verification
@testable import Settings

/// `dpop`, which turns DPoP proofs on.
@Suite struct DPoPSettingsTests {
    private func read(_ dpop: String, binding: String = "dpop") throws -> Settings {
        let provider =
            "{ id: p, preset: keycloak, issuer: https://a.example, tokens: access, audiences: [a], binding: \(binding) }"
        return try settings("\(dpop)\nproviders:\n  - \(provider)\n")
    }

    @Test func `the section turns proofs on, even if it is empty`() throws {
        #expect(try read("dpop: {}").dpop?.rules == ProofRules())
        #expect(try read("dpop:").dpop?.rules == ProofRules())
        #expect(try read("", binding: "any").dpop == nil)
        #expect(throws: SettingsError.self) { try read("") }
    }

    @Test func `algorithms and age can be changed`() throws {
        let rules = try #require(try read("dpop: { algorithms: [ES256, PS512], max_age: 5m }").dpop?.rules)
        #expect(rules.algorithms == [.es256, .ps512])
        #expect(rules.maximumAgeSeconds == 300)
    }

    @Test(arguments: [
        "algorithms: []", "algorithms: [HS256]", "algorithms: [none]", "max_age: 0s", "max_age: 2h", "max_age: 60",
        "other: 1",
    ])
    func `other values are refused`(member: String) {
        #expect(throws: SettingsError.self) { try read("dpop: { \(member) }") }
    }

    // MARK: Replays and nonces

    private static let access =
        "id: p, preset: keycloak, issuer: https://a.example, tokens: access, audiences: [a]"

    private func uses(_ provider: String, _ policy: String = "", dpop: String = "dpop: {}") throws -> (
        ProofUse?, ProofUse?
    ) {
        let yaml = """
            \(dpop)
            providers:
              - { \(Self.access)\(provider) }
            forward_auth:
              policies:
                - id: p
                  providers: [p]
                  request_url: { origin: "https://a.example", method: request, path: request }
            \(policy)

            """
        let read = try settings(yaml)
        return (read.providers.first?.accessTokens?.proofUse, read.forwardAuth.policies.first?.proofUse)
    }

    @Test func `replays and nonces may be set for all, a provider and a policy`() throws {
        let rules = try #require(try read("dpop: { replay: off, nonce: required }").dpop?.rules)
        #expect(!rules.passesOnce && rules.needsNonce)
        #expect(try read("dpop: {}").dpop?.rules.passesOnce == true)
        var provider = ProofUse()
        var policy = ProofUse()
        #expect(try uses("") == (provider, policy))
        (provider.passesOnce, provider.needsNonce) = (false, true)
        (policy.passesOnce, policy.needsNonce) = (true, false)
        #expect(try uses(", replay: off, nonce: required", "      replay: on\n      nonce: off") == (provider, policy))
        for wrong in [", nonce: on", ", nonce: { required: true }", ", replay: no", ", nonce: true"] {
            #expect(throws: SettingsError.self) { try uses(wrong) }
        }
        let idTokens = "providers:\n  - { id: p, issuer: https://a.example, audiences: [a], replay: off }\n"
        #expect(throws: SettingsError.self) { try settings(idTokens) }
        #expect(throws: SettingsError.self) { try settings(idTokens.replacing("replay: off", with: "nonce: required")) }
    }

    @Test func `a policy needs request_url for them`() throws {
        func policy(_ more: String, _ dpop: String = "dpop: {}") throws -> Settings {
            let policies = "forward_auth: { policies: [{ id: p, providers: [p]\(more) }] }"
            return try settings("\(dpop)\nproviders:\n  - { \(Self.access) }\n\(policies)\n")
        }
        let url = #", request_url: { origin: "https://a.example", method: request, path: request }"#
        #expect(try policy(url + ", nonce: required").remembersProofs)
        for wrong in [", nonce: required", ", replay: off"] {
            #expect(throws: SettingsError.self) { try policy(wrong) }
        }
        #expect(throws: SettingsError.self) { try policy(url, "") }
    }

    @Test func `a resource comes before the provider, and a policy before its resource`() throws {
        func uses(_ resource: String, _ policy: String = "", dpop: String = "dpop: {}") throws -> (
            ProofUse?, ProofUse?, Settings
        ) {
            let yaml = """
                \(dpop)
                providers:
                  - { \(Self.access) }
                resources:
                  - { id: r, resource: "https://r.example", providers: [p]\(resource) }
                forward_auth:
                  policies:
                    - id: p
                      resource: r
                      request_url: { origin: "https://r.example", method: request, path: request }
                \(policy)

                """
            let read = try settings(yaml)
            return (read.resources.first?.proofUse, read.forwardAuth.policies.first?.proofUse, read)
        }
        var (resource, policy) = (ProofUse(), ProofUse())
        #expect(try uses("").0 == resource)
        (resource.passesOnce, resource.needsNonce) = (false, true)
        var read = try uses(", replay: off, nonce: required")
        #expect((read.0, read.1) == (resource, resource))
        (policy.passesOnce, policy.needsNonce) = (true, true)
        read = try uses(", replay: off, nonce: required", "      replay: on")
        #expect((read.0, read.1) == (resource, policy))
        let off = "dpop: { replay: off }"
        #expect(try !uses("", dpop: off).2.remembersProofs)
        #expect(try uses(", replay: on", dpop: off).2.remembersProofs)
        let warning = { (settings: Settings) in settings.warnings.contains { $0.contains("nonce: required") } }
        #expect(try !warning(uses("").2))
        #expect(try warning(uses(", nonce: required").2))
        for wrong in [", nonce: on", ", replay: no", ", nonce: { required: true }"] {
            #expect(throws: SettingsError.self) { try uses(wrong) }
        }
        let resourceAlone = "resources:\n  - { id: r, resource: \"https://r.example\", providers: [p], nonce: off }\n"
        let withoutProofs = "providers:\n  - { \(Self.access) }\n\(resourceAlone)"
        #expect(throws: SettingsError.self) { try settings(withoutProofs) }
        #expect(try settings("dpop: {}\n\(withoutProofs)").resources.first?.proofUse.needsNonce == false)
    }

    // MARK: The store

    private static let server =
        "sign_ins: { key_files: [/k], store: { url: redis://a, timeout: 90ms, prefix: \"x:\" } }\n"

    @Test func `the store is the server of sign-ins, or a memory of its own`() throws {
        var memory = Settings.SignIns.Store()
        memory.prefix = "assay:dpop:"
        memory.entries = 1_000_000
        #expect(try read("dpop: {}").proofStore == memory)
        #expect(try read("", binding: "any").proofStore == memory)
        #expect(try read("dpop: { store: { entries: 2000 } }").proofStore.entries == 2000)
        let shared = try read(Self.server + "dpop: { store: { replicas: 1 } }").proofStore
        #expect(shared.url == .server(host: "a", port: 6379, database: 0, isTLS: false))
        #expect(shared.prefix == "x:dpop:")
        #expect(shared.timeoutMilliseconds == 90)
        #expect(shared.replicas == 1)
        #expect(try read(Self.server + "dpop: {}").signIns?.store.replicas == 0)
    }

    @Test func `a store with a URL has nothing of the other`() throws {
        let own = try read(Self.server + "dpop: { store: { url: redis://b, prefix: \"y:\" } }").proofStore
        #expect(own.url == .server(host: "b", port: 6379, database: 0, isTLS: false))
        #expect(own.prefix == "y:")
        #expect(own.timeoutMilliseconds == 250)
        let memory = try read(Self.server + "dpop: { store: { url: memory } }")
        #expect(memory.proofStore.url == .memory)
        #expect(memory.warnings.contains { $0.contains("dpop with store memory") })
        #expect(try !read(Self.server + "dpop: {}").warnings.contains { $0.contains("dpop with store memory") })
        for wrong in [
            "username: u", "password_file: /p", "entries: 2000", "url: memory, prefix: x",
            "url: redis://b, entries: 2000",
            "url: redis://b, ca_file: /c", "url: x", "other: 1",
        ] { #expect(throws: SettingsError.self) { try read(Self.server + "dpop: { store: { \(wrong) } }") } }
    }

    @Test func `a change of the store needs a restart`() throws {
        let running = try read(Self.server, binding: "any")
        func changed(_ dpop: String) throws -> [String] {
            try read(Self.server + dpop, binding: "any").changesThatNeedRestart(from: running)
        }
        #expect(try changed("dpop: {}").isEmpty)
        #expect(try changed("dpop: { max_age: 5m }").isEmpty)
        #expect(try changed("dpop: { store: { prefix: y } }") == ["dpop.store"])
    }
}
