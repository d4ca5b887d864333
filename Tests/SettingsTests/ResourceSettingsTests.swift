import JOSE
import Testing
import Verification
@testable import Settings

@Suite struct ResourceSettingsTests {
    private static let providers = """
        providers:
          - { id: auth, issuer: https://auth.example.com, tokens: access, audiences: [a] }
          - { id: other, issuer: https://other.example.com, tokens: access, audiences: [a], authorized_parties: [c] }
          - { id: alias, issuer: https://alias.example.com, issuer_aliases: [alias], tokens: access, audiences: [a] }
          - { id: users, issuer: https://auth.example.com, audiences: [a] }

        """

    private func read(_ resources: String, _ rest: String = "") throws -> [Resource] {
        try settings("\(Self.providers)resources: \(resources)\n\(rest)").resources
    }

    private func read(member: String) throws -> Resource {
        try #require(try read("[{ id: mcp, resource: https://m.example/mcp, providers: [auth], \(member) }]").first)
    }

    private func fault(_ resources: String, _ rest: String = "") throws -> String {
        try SettingsTests.fault("\(Self.providers)resources: \(resources)\n\(rest)").message
    }

    private func fault(member: String) throws -> String {
        try fault("[{ id: mcp, resource: https://m.example/mcp, providers: [auth], \(member) }]")
    }

    @Test func `three members are enough`() throws {
        let resource = try #require(
            try read("[{ id: mcp, resource: https://m.example, providers: [auth, other] }]").first)
        #expect(resource.id == "mcp")
        #expect(resource.audiences == ["https://m.example", "https://m.example/"])
        #expect(resource.authorizationServers == ["https://auth.example.com", "https://other.example.com"])
        #expect(resource.scopes.isEmpty)
        #expect(resource.metadata.isEmpty)
    }

    @Test func `every member is read`() throws {
        let text =
            "audiences: [api://m], authorization_servers: [http://127.0.0.1:5000/op], scopes: [m:use], metadata: { resource_name: M, beta: true, quoted: \"true\", scopes_supported: [m:use, m:all] }"
        let resource = try read(member: text)
        #expect(resource.audiences == ["api://m"])
        #expect(resource.authorizationServers == ["http://127.0.0.1:5000/op"])
        #expect(resource.scopes == ["m:use"])
        #expect(
            resource.metadata == [
                "resource_name": .string("M"), "beta": .bool(true), "quoted": .string("true"),
                "scopes_supported": .array([.string("m:use"), .string("m:all")]),
            ])
    }

    @Test(arguments: [
        "resource: http://m.example", "resource: https://m.example/#f", "resource: m", "id: a b", "id: ''",
        "providers: []", "audiences: []", "authorization_servers: []", "authorization_servers: [http://auth.example]",
        "scopes: []", "scopes: ['a b']", "metadata: { jwks_uri: x }", "metadata: { signed_metadata: x }",
        "metadata: { resource: x }", "metadata: { authorization_servers: [x] }", "metadata: { nested: { a: b } }",
        "metadata: { scopes_supported: [] }", "metadata: { resource_name: }", "other: 1",
        "metadata: { dpop_signing_alg_values_supported: [ES256] }", "audiences: none",
    ])
    func `other values are refused`(member: String) throws {
        let name = String(member.prefix { $0 != ":" })
        var members = ["id": "mcp", "resource": "https://m.example", "providers": "[auth]"]
        members[name] = nil
        let text = members.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ")
        #expect(throws: SettingsError.self) { try read("[{ \(text), \(member) }]") }
    }

    @Test func `a resource without audiences needs authorized parties`() throws {
        let text = "[{ id: mcp, resource: https://m.example, providers: [other], audiences: none }]"
        #expect(try read(text).first?.audiences == [])
        #expect(
            try fault(member: "audiences: none").contains(
                "authorized_parties, or required_scopes for opaque tokens, at the provider auth"))
    }

    @Test func `providers verify access tokens`() throws {
        #expect(
            try fault("[{ id: m, resource: https://m.example, providers: [users] }]").contains("verifies ID Tokens"))
        #expect(try fault("[{ id: m, resource: https://m.example, providers: [nobody] }]").contains("no provider"))
    }

    @Test func `an issuer with aliases is not the address of an authorization server`() throws {
        let text = "id: m, resource: https://m.example, providers: [alias]"
        #expect(try fault("[{ \(text) }]").contains("the issuer of alias is not one https URL"))
        let servers = "authorization_servers: [https://alias.example.com]"
        #expect(try read("[{ \(text), \(servers) }]").first?.authorizationServers == ["https://alias.example.com"])
    }

    @Test func `two resources differ in id and address`() throws {
        func two(_ id: String, _ resource: String) -> String {
            "[{ id: m, resource: https://m.example, providers: [auth] }, { id: \(id), resource: \(resource), providers: [auth] }]"
        }
        #expect(try read(two("n", "https://m.example/n")).count == 2)
        #expect(try fault(two("m", "https://m.example/n")).contains("listed twice"))
        #expect(try fault(two("n", "https://M.example:443/")).contains("the same address"))
    }

    @Test func `a policy may name a resource instead of providers`() throws {
        func policies(_ members: String) -> String { "forward_auth: { policies: [{ id: p, \(members) }] }" }
        let resources = "[{ id: mcp, resource: https://m.example, providers: [auth, other] }]"
        func policy(_ members: String) throws -> ForwardAuthPolicy? {
            try settings("\(Self.providers)resources: \(resources)\n\(policies(members))").forwardAuth.policies.first
        }
        #expect(try policy("resource: mcp")?.providers == ["auth", "other"])
        #expect(try policy("resource: mcp")?.resource == "mcp")
        #expect(try policy("resource: mcp, providers: [other]")?.providers == ["other"])
        #expect(try fault(resources, policies("resource: mpc")).contains("no resource has the id mpc"))
        #expect(try fault(resources, policies("resource: mcp, providers: [users]")).contains("not among the providers"))
    }
}
