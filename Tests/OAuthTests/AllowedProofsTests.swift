import HTTP
import IDToken
import Keys
import NIOCore
import NIOPosix
import OAuth
import Testing

@Suite struct AllowedProofsTests {
    private static func grants(readsDiscovery: Bool = false) throws -> ProviderGrants {
        let calls = ProviderCalls(
            rules: NetworkRules(), proxy: nil, credentials: [:], quirks: [], keptConnections: 1,
            on: MultiThreadedEventLoopGroup.singleton.next()
        ) { _ in }
        let endpoints = ProviderEndpoints(
            authorization: "https://id.example/authorize", token: "https://id.example/oauth/token?tenant=1",
            revocation: "https://id.example/revoke", userInfo: "https://id.example/userinfo",
            pushedRequest: "https://id.example/par")
        return try ProviderGrants(
            GrantRules(clients: [], quirks: []), endpoints: endpoints, readsDiscovery: readsDiscovery,
            allowingHTTP: false, slots: CallSlots(limit: 1), calls: calls)
    }

    private static func client(_ origins: String...) -> OAuthClient {
        var client = OAuthClient(id: "client")
        client.proofOrigins = origins
        return client
    }

    private func allows(_ url: String, _ client: OAuthClient = client("https://id.example")) throws -> Bool? {
        try Self.grants().allowsProof(for: try #require(TargetURI(url)), of: client, nil)
    }

    @Test(arguments: [
        "https://id.example/authorize", "https://id.example/oauth/token", "https://id.example/oauth/token?tenant=2",
        "https://ID.example:443/oauth/../oauth/%74oken", "https://id.example/oauth//token/",
        "https://id.example/OAuth/Token", "https://id.example/revoke#x", "https://id.example/par",
    ])
    func `no endpoint is allowed, however it is written`(url: String) throws {
        #expect(try allows(url) == false)
    }

    @Test(arguments: ["https://id.example/", "https://id.example/oauth", "https://id.example/oauth/tokens"])
    func `their neighbours are, if their origin is`(url: String) throws {
        #expect(try allows(url) == true)
        #expect(try allows(url, Self.client()) == false)
        #expect(try allows(url, Self.client("https://id.example:8443", "https://id.exampl")) == false)
    }

    @Test func `the UserInfo endpoint is always allowed`() throws {
        #expect(try allows("https://id.example/userinfo?x=1", Self.client()) == true)
        #expect(try allows("https://id.example/userinfo/", Self.client()) == false)
    }

    @Test func `nothing is known before the document is read`() throws {
        let target = try #require(TargetURI("https://id.example/orders"))
        let grants = try Self.grants(readsDiscovery: true)
        #expect(grants.allowsProof(for: target, of: Self.client("https://id.example"), nil) == nil)
    }
}
