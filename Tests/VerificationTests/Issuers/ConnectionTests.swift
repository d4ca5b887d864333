import IDToken
import JOSE
import Keys
import Testing
@testable import Verification

private let usual = #""provider":"p","connection":"c","issuer":"https://a","audience":"x""#

@Suite struct ConnectionTests {
    private func connection(_ text: String) throws -> Connection? {
        let others: [JSONName] = ["id_token", "provider", "issuer", "audience"]
        return try Connection(of: JSONObject(Array(text.utf8), allowsNUL: true), beside: others)
    }

    @Test func `the members of a connection`() throws {
        let members = #""claim_values":{"hd":["a","b"],"n":5,"t":true},"email_domains":["a.example"]"#
        let read = try #require(try connection("{\(usual),\(members)}"))
        #expect([read.id, read.issuer, read.audience] == ["c", "https://a", "x"])
        let values = Dictionary(uniqueKeysWithValues: read.claimRules.map { ($0.claim.name.string, $0.values) })
        #expect(values == ["hd": ["a", "b"], "n": ["5"], "t": ["true"]])
        #expect(read.emailDomains == ["a.example"])
        #expect(try connection("{\(usual),\"email_domains\":null,\"claim_values\":{}}")?.claimRules == [])
    }

    @Test func `a request that names no connection has none`() throws {
        #expect(try connection(#"{"id_token":"x","audience":"a","issuer":"https://a"}"#) == nil)
    }

    @Test(
        arguments: [
            #"{"provider":"p","connection":"c"}"#, #"{"provider":"p","connection":"c","issuer":"https://a"}"#,
            #"{"provider":"p","connection":"c","audience":"a"}"#,
            #"{"connection":"c","issuer":"https://a","audience":"a"}"#,
            #"{"provider":null,"connection":"c","issuer":"https://a","audience":"a"}"#,
            #"{"provider":"p","connection":null,"issuer":"https://a","audience":"a"}"#,
            #"{"provider":"p","connection":"..","issuer":"https://a","audience":"a"}"#,
            #"{"provider":"p","connection":"","issuer":"https://a","audience":"a"}"#,
            #"{"provider":"p","connection":"c","issuer":"https://a","audience":null}"#,
            #"{"claim_values":{"a":"b"}}"#, #"{"email_domains":["a"]}"#,
        ]
            + [
                #""claim_values":null"#, #""claim_values":[]"#, #""claim_values":{"a":[]}"#,
                #""claim_values":{"a":[[]]}"#,
                #""claim_values":{"a":null}"#, #""claim_values":{"a":1.5}"#, #""email_domains":"a""#,
                #""email_domains":["a@b"]"#, #""email_domains":[1]"#,
            ].map { "{\(usual),\($0)}" })
    func `anything else is refused`(text: String) {
        #expect { try connection(text) } throws: { error in
            guard case .requestInvalid(let detail) = error as? Problem else { return false }
            expectSentence(detail)
            return true
        }
    }

    private let rules = {
        var network = NetworkRules()
        network.requiresDefaultPort = true
        return OpenIssuerRules(
            network: network, others: [ProviderPolicy(id: "o", issuer: "https://own.example", audiences: [])],
            listed: [IssuerList([("https://listed.example", IssuerList.Line(number: 1, audiences: nil, domains: []))])])
    }()

    @Test(arguments: [
        "https://own.example", "https://listed.example", "https://accounts.google.com", "accounts.google.com",
        "https://appleid.apple.com", "https://sts.windows.net/9188040d-6c67-4c5b-b112-36a304b66dad/",
        "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
    ])
    func `an issuer of others, or of everybody, is shared`(issuer: String) { #expect(rules.isShared(issuer)) }

    @Test(arguments: [
        "https://own.example/", "https://acme.okta.com", "https://acme.eu.auth0.com/", "https://sts.windows.net//",
        "https://login.microsoftonline.com/a/b/v2.0",
    ])
    func `a customer's own is not`(issuer: String) { #expect(!rules.isShared(issuer)) }

    @Test(arguments: ["https://a.example", "https://a.example:443/x", "https://a.example/x/"])
    func `an issuer is an https URL`(issuer: String) { #expect(rules.refusal(of: issuer) == nil) }

    @Test(arguments: [
        "http://a.example", "https://a.example:444", "https://a.example?", "https://a.example#", "https://u@a.example",
        "https://a.example/{tid}", "a.example", "", "https://",
        "https://a.example/" + String(repeating: "x", count: 255),
        "https://a b.example",
    ])
    func `anything else is no issuer`(issuer: String) { #expect(rules.refusal(of: issuer) != nil) }
}
