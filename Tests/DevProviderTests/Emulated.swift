@testable import DevProvider
import IDToken
import JOSE
import OpenSSL
import Testing

/// Development providers without a server.
enum Emulated {
    static let now: Int64 = 1_700_000_000
    static let origin = "http://127.0.0.1:9400"

    /// All tests share it: generating a key takes most of a test's time.
    private static let key = Result { try SigningKey(generating: .rsa(modulusLength: 256)) }
    private static let ellipticKey = Result { try SigningKey(generating: .ellipticCurve(.p256)) }

    /// Values for the parameters of presets.
    static let arguments: PresetArguments = [
        "tenant": "6f2e1a90-1d3b-4c5e-8f70-112233445566", "domain": "example.eu.auth0.com", "project": "my-project",
        "pool": "eu-west-1_AbCdEfGhI", "subdomain": "contoso", "policy": "B2C_1_sign_in",
    ]

    /// The provider that stands in for one of a preset, under a policy that a relying party adjusts.
    static func provider(
        _ preset: ProviderPreset, _ authentication: DevClient.Authentication = .any, redirectURIs: [String] = [],
        mustProve: Bool = false, encryption: DevEncryption? = nil,
        adjust: (inout ProviderPolicy) -> Void = { _ in }
    ) throws -> EmulatedProvider {
        let facts = preset.facts(arguments)
        var policy = preset.policy(id: "p", audiences: ["client"], arguments: arguments)
        policy.issuer = policy.issuerTemplates.map { "\(origin)/p/{\($0[0].claim.string)}/v2.0" } ?? "\(origin)/p"
        policy.issuerAliases = []
        if !policy.keyIssuers.isEmpty { policy.keyIssuers = [IssuerTemplate(policy.issuer)].compactMap(\.self) }
        adjust(&policy)
        var client = DevClient(id: "client", redirectURIs: redirectURIs, authentication: authentication)
        client.mustProve = mustProve
        var settings = DevProviderSettings(
            policy: policy, preset: preset.name, clients: [client], quirks: facts.quirks)
        settings.encryption = encryption
        let shared = try [key.get(), ellipticKey.get()].first { $0.kind == settings.algorithm.keyKind }
        return try EmulatedProvider(settings, origin: origin, key: shared ?? settings.makeKey())
    }

    static func form(_ members: KeyValuePairs<String, String>) throws -> FormParameters {
        try #require(FormParameters(members.map { "\($0)=\($1)" }.joined(separator: "&").utf8))
    }

    static func claims(_ token: String) throws -> [String: JSONTree] {
        try #require(JSONTree(readingObject: try CompactJWS(token).payload).object)
    }

    static func keys(_ provider: EmulatedProvider) throws -> JWKSet {
        try JWKSet(provider.keySet.json, acceptingDevelopmentKeys: true)
    }

    static let kim = People().usual
}
