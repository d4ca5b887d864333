import OAuth
@testable import Settings
import Testing

@Suite struct NamedClientSettingsTests {
    private static func yaml(_ clients: String, _ more: String = "") -> String {
        "issuers: any\n\(more)\nclients: { \(clients) }"
    }

    private static func document(_ clients: String, _ more: String = "") -> String {
        "providers:\n  - id: p\n" + indented(yaml(clients, more))
    }

    private static let uri = "https://app.example/callback/{connection}"

    @Test func `clients that requests name`() throws {
        let settings = try read(
            provider: Self.yaml(
                "from: request, auth: [client_secret_post, private_key_jwt, none], redirect_uris: [\"\(Self.uri)\"], key_file: k, key_id: a1"
            ))
        #expect(
            settings.namedClients
                == NamedClientSettings(
                    rules: NamedClientRules(methods: [.post, .key, .none], redirectURIs: [Self.uri]),
                    key: NamedClientSettings.Key(id: "a1", file: "k")))
        #expect(settings.clients.isEmpty && settings.hasClients && settings.handlesSecrets)
        #expect(settings.maximumCalls == 256)
        #expect(settings.keptConnections == 64)
        for (maximum, kept) in [(3, 3), (64, 64), (65, 64), (1000, 64)] {
            let settings = try read(provider: Self.yaml("from: request, auth: [none]", "max_calls: \(maximum)"))
            #expect(settings.maximumCalls == maximum)
            #expect(settings.keptConnections == kept)
        }
    }

    @Test(arguments: [
        "https://app.example/{connection}", "https://app.example/cb?c={connection}", "com.example.app:/{connection}",
        "https://app.example/{connection}/cb?x={connection}",
    ])
    func `each connection has its own address`(uri: String) throws {
        let settings = try read(provider: Self.yaml("from: request, auth: [none], redirect_uris: [\"\(uri)\"]"))
        #expect(settings.namedClients?.rules.redirectURIs == [uri])
    }

    @Test(arguments: ["https://app.example/bye", "https://app.example/{connection}/bye"])
    func `the address after a sign-out may be the same for all`(uri: String) throws {
        let settings = try read(
            provider: Self.yaml("from: request, auth: [none], post_logout_redirect_uris: [\"\(uri)\"]"))
        let rules = try #require(settings.namedClients?.rules)
        #expect(rules.postLogoutRedirectURIs == [uri])
        var grants = GrantRules(clients: [], quirks: [])
        grants.named = rules
        let client = grants.ofConnection("a b", clientID: "c").clients.first
        #expect(client?.postLogoutRedirectURIs == [uri.replacing("{connection}", with: "a%20b")])
    }

    @Test(arguments: [
        "https://app.example/callback", "https://{connection}.example/cb", "https://{connection}/{connection}",
        "https://app.example/{connection}/{tenant}", "https://app.example/{Connection}", "https://{connection}",
    ])
    func `one address for all is refused`(uri: String) throws {
        let fault = try fault(Self.document("from: request, auth: [none], redirect_uris: [\"\(uri)\"]"))
        #expect(fault.message.contains("needs {connection} in its path or query"))
    }

    @Test(arguments: [
        ("auth: [none]", "need from: request"), ("from: request", "need auth, a list"),
        ("from: request, auth: []", "need auth, a list"), ("from: token, auth: [none]", "from must be"),
        ("from: request, auth: [apple]", "auth must be"),
        ("from: request, auth: [private_key_jwt], key_id: k", "auth: private_key_jwt needs key_id and key_file"),
        (
            "from: request, auth: [none], key_file: k",
            "key_file only has an effect with auth: private_key_jwt; remove it"
        ),
        ("from: request, auth: [none], secret_file: s", "unknown setting secret_file"),
        (
            "from: request, auth: [private_key_jwt], key_id: k, key_file: k, assertion_audience: token_endpoint",
            "assertion_audience must be issuer"
        ),
    ])
    func `what does not fit`(clients: String, message: String) throws {
        let messages = try faults(Self.document(clients)).map(\.message)
        #expect(messages.contains { $0.contains(message) }, "\(messages)")
    }

    @Test func `the key that signs for connections opens no tokens`() throws {
        let keys = "client_keys: [{ id: e, use: encryption, algorithms: [RSA-OAEP-256], key_file: k }]\n"
        let clients = "from: request, auth: [private_key_jwt], key_id: a1, key_file: "
        #expect(
            try fault(keys + Self.document(clients + "k")).message.hasPrefix(
                "the key e has the file that clients of provider p sign with"))
        _ = try settings(keys + Self.document(clients + "other"))
    }

    @Test func `addresses of connections are warned about as those of other clients are`() throws {
        func warnings(_ uri: String, _ others: String = "", _ more: String = "") throws -> [String] {
            try settings(Self.document("from: request, auth: [none], redirect_uris: [\"\(uri)\"]", more) + others)
                .warnings
        }
        func isWarned(_ uri: String) throws -> Bool {
            let other =
                "  - { id: q, issuer: \"https://q.example\", audiences: [a], clients: [{ id: a, auth: none, redirect_uris: [\"\(uri)\"] }] }\n"
            return try warnings("https://app.example/{connection}/cb?x={connection}", "\n" + other).contains {
                $0.hasPrefix("the redirect URI \(uri) of q is also that of a connection of p: give")
            }
        }
        for (uri, isOne) in [
            ("https://app.example/acme/cb?x=acme", true), ("https://app.example/a%2Fb/cb?x=a%2Fb", true),
            ("https://app.example/acme/cb?x=blob", false), ("https://app.example/a/b/cb?x=a/b", false),
            ("https://app.example//cb?x=", false), ("https://app.example/acme/cb", false),
        ] { #expect(try isWarned(uri) == isOne, "\(uri)") }
        let same = Self.document("from: request, auth: [none], redirect_uris: [\"\(Self.uri)\"]").replacing(
            "providers:\n", with: "\n"
        ).replacing("id: p", with: "id: q")
        #expect(
            try warnings(Self.uri, same).contains {
                $0.hasPrefix("the redirect URI \(Self.uri) is listed for p and for q")
            })
        #expect(try warnings("http://app.example/{connection}").contains { $0.contains("is not https: codes") })
        #expect(try !warnings("http://127.0.0.1/{connection}").contains { $0.contains("is not https: codes") })
        #expect(
            try warnings(Self.uri, "", "network: { allow_http: true }").contains {
                $0.contains("client credentials, codes and tokens may be sent")
            })
    }

    @Test func `only an open entry has them, and no others`() throws {
        let closed =
            "providers:\n  - id: p\n"
            + indented("issuer: https://op.example\naudiences: [a]\nclients: { from: request }")
        #expect(try fault(closed).message.hasPrefix("clients must be a list"))
        let listed = "providers:\n  - id: p\n" + indented("issuers: any\nclients: [{ id: a, auth: none }]")
        #expect(try fault(listed).message.contains("write a mapping with from: request"))
        let endpoints = "endpoints: { token: \"https://op.example/token\" }"
        #expect(
            try fault(Self.document("from: request, auth: [none]", endpoints)).message.hasPrefix(
                "endpoints has no effect"))
        #expect(
            try fault(Self.document("from: request, auth: [none]", "pkce: off")).message.hasPrefix(
                "auth: none needs PKCE"))
    }
}
