import JOSE
import Keys
import Testing

@Suite struct ProviderMetadataTests {
    private func metadata(_ json: String, issuer: String = "https://a.example") throws -> ProviderMetadata {
        try ProviderMetadata(Array(json.utf8), issuer: issuer)
    }

    private func failure(_ json: String, issuer: String = "https://a.example") throws -> String {
        let failure = try #require(#expect(throws: FetchFailure.self) { try metadata(json, issuer: issuer) })
        #expect(failure.phase == .parse)
        return failure.message
    }

    private static func document(_ issuer: String, _ rest: String = #""jwks_uri":"https://a.example/keys""#) -> String {
        #"{"issuer":"\#(issuer)",\#(rest)}"#
    }

    @Test func `a document says where the keys are`() throws {
        let metadata = try metadata(Self.document("https://a.example"))
        #expect(metadata.jwksURI == "https://a.example/keys")
        #expect(metadata.algorithms == .all)
    }

    @Test(arguments: [
        "https://a.example/", "https://A.example", "HTTPS://a.example", "http://a.example", "https://a.example:443",
        "https://a.example.",
        " https://a.example", "https://a.example?", "https://b.example", "https://a.exampl", "https://user@a.example",
        "",
        "https://\\u0430.example",
    ])
    func `an issuer that differs by a byte is another one`(issuer: String) throws {
        #expect(try failure(Self.document(issuer)).contains("byte for byte"))
    }

    @Test(arguments: [
        ("https://caf\u{e9}.example", "https://cafe\u{301}.example"), ("https://\u{212a}.example", "https://K.example"),
    ])
    func `an issuer in another Unicode form is another one`(configured: String, claimed: String) throws {
        #expect(try metadata(Self.document(configured), issuer: configured).jwksURI == "https://a.example/keys")
        _ = try failure(Self.document(claimed), issuer: configured)
    }

    @Test func `a number beyond 64 bits that nobody reads is no fault`() throws {
        let document = #"{"issuer":"https://a.example","jwks_uri":"https://a.example/keys","x":9223372036854775808}"#
        #expect(try metadata(document).jwksURI == "https://a.example/keys")
    }

    @Test func `an escaped issuer is the same`() throws {
        _ = try metadata(Self.document("https:\\/\\/a.ex\\u0061mple"))
    }

    @Test(arguments: [
        (#"{"jwks_uri":"https://a.example/keys"}"#, "names no issuer"),
        (#"{"issuer":null,"jwks_uri":"https://a.example/keys"}"#, "names no issuer"),
        (#"{"issuer":["https://a.example"],"jwks_uri":"https://a.example/keys"}"#, "names no issuer"),
        (#"{"issuer":"https://a.example"}"#, "has no jwks_uri"),
        (#"{"issuer":"https://a.example","jwks_uri":null}"#, "has no jwks_uri"),
        (#"{"issuer":"https://a.example","jwks_uri":{"a":1}}"#, "has no jwks_uri"),
        ("", "not one JSON object"), ("[]", "not one JSON object"), ("null", "not one JSON object"),
        ("<html>", "not one JSON object"),
        (#"{"issuer":"https://a.example","jwks_uri":"https://a.example/keys"} x"#, "not one JSON object"),
        (
            #"{"issuer":"https://a.example","issuer":"https://a.example","jwks_uri":"https://a.example/keys"}"#,
            "not one JSON object"
        ),
        (
            #"{"issuer":"https://a.example","jwks_uri":"https://a.example/keys","jwks_ur\u0069":"https://b.example"}"#,
            "not one JSON object"
        ),
    ])
    func `a document that lacks what it must have is refused with a word on what`(json: String, message: String) throws
    {
        #expect(try failure(json).contains(message))
    }

    @Test(
        arguments: [
            (#"["RS256"]"#, [SignatureAlgorithm.rs256]),
            (#"["RS256","ES256","EdDSA"]"#, [.rs256, .es256, .edDSA]),
            // As LemonLDAP::NG lists them.
            (#"["none","HS256","HS384","HS512","RS256","PS384"]"#, [.rs256, .ps384]),
            (#"["rs256","RS256 ",5,null,{"a":1},"ES256"]"#, [.es256]),
            (#"["none"]"#, []), ("[]", []),
        ] as [(String, SignatureAlgorithms)])
    func `of the algorithms that are listed the supported ones count`(json: String, algorithms: SignatureAlgorithms)
        throws
    {
        let rest = #""jwks_uri":"https://a.example/keys","id_token_signing_alg_values_supported":\#(json)"#
        #expect(try metadata(Self.document("https://a.example", rest)).algorithms == algorithms)
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/tenant/v2.0", "https://a.example/tenant/v2.0/.well-known/openid-configuration"),
        ("https://a.example/tenant/", "https://a.example/tenant/.well-known/openid-configuration"),
        ("https://a.example:8443", "https://a.example:8443/.well-known/openid-configuration"),
    ])
    func `the document is below the issuer`(issuer: String, address: String) {
        #expect(ProviderMetadata.address(forIssuer: issuer) == address)
    }
}

/// Where the document of an issuer is looked for.
@Suite struct DiscoveryRulesTests {
    private static let (root, wellKnown) = ("https://a.example", "https://a.example/.well-known/")

    private func addresses(
        _ document: DiscoveryDocument? = nil, isOfAccessTokens: Bool = true, ofIssuer issuer: String = root + "/t"
    ) -> [String] {
        let rules = DiscoveryRules(document, isOfAccessTokens: isOfAccessTokens, namesAlgorithms: true)
        guard
            case .discovery(let address, let others, issuer, readsAlgorithms: false) = rules.location(ofIssuer: issuer)
        else { return [] }
        return [address] + others
    }

    @Test func `that of access tokens is looked for at three places`() {
        let openID = "https://a.example/t/.well-known/openid-configuration"
        let others = [Self.wellKnown + "oauth-authorization-server/t", Self.wellKnown + "openid-configuration/t"]
        #expect(addresses() == [openID] + others)
        #expect(addresses(.openid) == [openID])
        #expect(addresses(.oauth) == [others[0]])
        #expect(addresses(isOfAccessTokens: false) == [openID])
        // Without a path, two of them are one.
        let ofRoot = ["openid-configuration", "oauth-authorization-server"].map { Self.wellKnown + $0 }
        #expect(addresses(ofIssuer: Self.root) == ofRoot)
    }

    @Test func `only ID Tokens have their algorithms from the document`() {
        for (isOfAccessTokens, namesAlgorithms) in [(false, false), (false, true), (true, false), (true, true)] {
            let rules = DiscoveryRules(isOfAccessTokens: isOfAccessTokens, namesAlgorithms: namesAlgorithms)
            #expect(rules.readsAlgorithms == (!isOfAccessTokens && !namesAlgorithms))
        }
    }
}

/// Documents of issuers that callers name.
@Suite struct OpenIssuerDocumentTests {
    private func metadata(_ members: String) throws -> ProviderMetadata {
        var rules = NetworkRules()
        rules.requiresDefaultPort = true
        let json = #"{"issuer":"https://a.example",\#(members)}"#
        return try ProviderMetadata(Array(json.utf8), issuer: "https://a.example", under: rules)
    }

    @Test func `a URL that breaks the rules counts as not there`() throws {
        let found = try metadata(
            #""jwks_uri":"https://a.example/k","token_endpoint":"https://a.example:8443/t","authorization_endpoint":"https://b.example/a","revocation_endpoint":"http://a.example/r""#
        )
        #expect(found.endpoints[.authorization]?.text == "https://b.example/a")
        #expect(found.endpoints[.token] == nil)
        #expect(found.endpoints[.revocation] == nil)
    }

    @Test(arguments: ["http://a.example/k", "https://a.example:444/k", "https://u@a.example/k"])
    func `without keys that may be fetched it is of no use`(address: String) {
        #expect(throws: FetchFailure.self) { try metadata(#""jwks_uri":"\#(address)""#) }
    }
}
