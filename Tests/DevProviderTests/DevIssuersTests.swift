@testable import DevProvider
import IDToken
import JOSE
import Testing

@Suite struct DevIssuersTests {
    /// An entry with 10,000 issuers, and a provider with one.
    private static func providers(isOpen: Bool = true) throws -> EmulatedProviders {
        var policy = ProviderPreset.oidc.policy(id: "connections", audiences: ["client"])
        policy.issuer = Emulated.origin + "/connections"
        var entry = DevProviderSettings(
            policy: policy, preset: "oidc",
            clients: [
                DevClient(id: "client", redirectURIs: ["https://app.example/{connection}/cb"], authentication: .post)
            ],
            quirks: [])
        entry.issuers = DevIssuers(count: 10_000, isOpen: isOpen)
        let one = try Emulated.provider(.oidc)
        let template = try EmulatedProvider(entry, origin: Emulated.origin, key: entry.makeKey())
        return EmulatedProviders([entry, one.settings], [template, one], origin: Emulated.origin)
    }

    @Test(arguments: [
        ("/connections/1", "connections/1", "/"), ("/connections/10000/keys", "connections/10000", "/keys"),
        ("/connections/7/.well-known/openid-configuration", "connections/7", "/.well-known/openid-configuration"),
        ("/p/keys", "p", "/keys"), ("/p", "p", "/"),
    ])
    func aPathBeginsWithItsProvider(path: String, id: String, rest: String) throws {
        var providers = try Self.providers()
        let found = try #require(try providers.provider(at: path))
        #expect(found.id == id && found.rest == rest)
        #expect(providers[id] != nil)
    }

    @Test(arguments: [
        "/", "/connections", "/connections/", "/connections/keys", "/connections/0", "/connections/10001",
        "/connections/01",
        "/connections/+1", "/connections/-1", "/connections/1a", "/q/keys",
    ])
    func otherPathsHaveNoProvider(path: String) throws {
        var providers = try Self.providers()
        #expect(try providers.provider(at: path) == nil)
    }

    @Test func eachIssuerHasItsOwnKeysClientAndSubjects() throws {
        var providers = try Self.providers()
        for number in [7, 8] { _ = try providers.provider(at: "/connections/\(number)/keys") }
        let (seven, eight) = (try #require(providers["connections/7"]), try #require(providers["connections/8"]))
        #expect(seven.policy.issuer == "http://127.0.0.1:9400/connections/7")
        #expect(seven.client("client-7") != nil && seven.client("client-8") == nil)
        #expect(seven.keys.keyID != eight.keys.keyID)
        #expect(seven.keys.algorithm == "ES256")
        #expect(try seven.subject(of: Emulated.kim) != eight.subject(of: Emulated.kim))
        // Asking again changes nothing.
        _ = try providers.provider(at: "/connections/7/keys")
        #expect(providers["connections/7"]?.keys.keyID == seven.keys.keyID)
    }

    @Test func anAlgorithmThatTheSettingsAskForIsUsed() {
        var policy = ProviderPreset.oidc.policy(id: "connections", audiences: ["client"])
        policy.algorithms = [.rs256]
        var entry = DevProviderSettings(policy: policy, preset: "oidc", clients: [], quirks: [])
        entry.issuers = DevIssuers(count: 2, isOpen: true)
        #expect(entry.issuer(1).algorithm == .rs256)
    }

    @Test func faultsOfAnEntryAreThoseOfAllItsIssuers() throws {
        var providers = try Self.providers()
        _ = try providers.provider(at: "/connections/1")
        let entry = try #require(try providers.ids(for: "connections"))
        #expect(Set(entry) == ["connections", "connections/1"])
        for id in entry { providers[id]?.faults.set(.down, on: true, seconds: nil) }
        // An issuer that did not exist has the fault too.
        _ = try providers.provider(at: "/connections/2")
        #expect(providers["connections/1"]?.faults.has(.down) == true)
        #expect(providers["connections/2"]?.faults.has(.down) == true)
        #expect(providers["p"]?.faults.has(.down) == false)
        #expect(providers.with(.down) == ["connections"])
    }

    @Test func oneIssuerCanFailAlone() throws {
        var providers = try Self.providers()
        #expect(try providers.ids(for: "connections/9") == ["connections/9"])
        providers["connections/9"]?.faults.set(.slow, on: true, seconds: 1)
        #expect(providers.with(.slow) == ["connections/9"])
        _ = try providers.provider(at: "/connections/10")
        #expect(providers["connections/10"]?.faults.has(.slow) == false)
        #expect(try providers.ids(for: "connections/10001") == nil)
        #expect(try providers.ids(for: "connections/9/keys") == nil)
        #expect(try providers.ids(for: "p") == ["p"])
    }

    @Test func requestsNameTheConnectionOnlyWithoutAList() throws {
        var open = try Self.providers(), closed = try Self.providers(isOpen: false)
        for path in ["/connections/7", "/p"] {
            _ = try open.provider(at: path)
            _ = try closed.provider(at: path)
        }
        #expect(
            open["connections/7"]?.settings.requestMembers == [
                "provider": .string("connections"), "connection": .string("7"),
                "issuer": .string("http://127.0.0.1:9400/connections/7"), "audience": .string("client-7"),
            ])
        #expect(closed["connections/7"]?.settings.requestMembers == ["provider": .string("connections")])
        #expect(open["p"]?.settings.requestMembers == ["provider": .string("p")])
    }

    @Test(arguments: [
        ("https://app.example/7/cb", true), ("https://app.example/a%252Fb/cb", true),
        ("https://app.example//cb", false),
        ("https://app.example/cb", false), ("https://app.example/7/8/cb", false), ("https://app.example/7?/cb", false),
        ("https://other.example/7/cb", false), ("https://app.example/7/cb2", false),
    ])
    func redirectURIsHaveAPlaceForTheConnection(uri: String, isAllowed: Bool) throws {
        var providers = try Self.providers()
        _ = try providers.provider(at: "/connections/7")
        let provider = try #require(providers["connections/7"])
        let query = try Emulated.form(["client_id": "client-7", "response_type": "code", "redirect_uri": uri])
        let request = try? AuthorizationRequest(query, to: provider)
        #expect((request != nil) == isAllowed)
    }
}
