import Foundation
import IDToken
import Keys
import Settings
import Testing
import Verification

/// Entries with many issuers.
@Suite struct IssuersSettingsTests {
    @Test func `a list of issuers`() throws {
        let entry = try read(
            provider: "issuers: [https://a.example, https://b.example]\naudiences: [x]\nmax_issuers: 7")
        #expect(entry.issuers?.list?.issuers == ["https://a.example", "https://b.example"])
        #expect(entry.maximumIssuers == 7)
        #expect(entry.keys == .issuers(DiscoveryRules(isOfAccessTokens: false, namesAlgorithms: false)))
        #expect(entry.policy.issuer == "")
        #expect(!entry.network.requiresDefaultPort && entry.network.isOfManyIssuers)
    }

    @Test func `the issuers of access tokens may be authorization servers`() throws {
        let text = "issuers: [https://a.example]\naudiences: [x]\n"
        let either = DiscoveryRules(isOfAccessTokens: true, namesAlgorithms: false)
        #expect(try read(provider: text + "tokens: access").keys == .issuers(either))
        let one = DiscoveryRules(.oauth, isOfAccessTokens: true, namesAlgorithms: false)
        #expect(try read(provider: text + "tokens: access\ndiscovery: oauth").keys == .issuers(one))
        #expect(
            try fault("providers:\n  - { id: p, issuers: [https://a.example], audiences: [x], discovery: oauth }\n")
                .message.hasPrefix("discovery needs tokens: access or opaque"))
    }

    @Test func `any issuer`() throws {
        let entry = try read(provider: "issuers: any\nalgorithms: [RS256]")
        #expect(entry.issuers?.isOpen == true)
        #expect(entry.maximumIssuers == 1000)
        #expect(entry.keys == .issuers(DiscoveryRules(isOfAccessTokens: false, namesAlgorithms: true)))
        #expect(entry.network.requiresDefaultPort && entry.network.maximumRedirects == 0)
    }

    @Test func `a file, which may hold the audiences too`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "issuers-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("https://a.example mine\n".utf8).write(to: URL(filePath: path))
        let entry = try read(provider: "issuers_file: \(path)")
        #expect(entry.issuers?.list?["https://a.example"]?.audiences == ["mine"])
        #expect(entry.issuersFile?.path == path)
        #expect(entry.maximumIssuers == 10_000)
        try Data("https://a.example -\n".utf8).write(to: URL(filePath: path))
        #expect(try fault("providers:\n  - { id: p, issuers_file: \(path) }\n").message.contains("needs audiences"))
        #expect(
            try fault("providers:\n  - { id: p, audiences: [x], issuers_file: /nowhere/x }\n").message.contains(
                "there is no such file"))
    }

    @Test(arguments: [
        ("issuers: any\npreset: google", "preset"), ("issuers: any\nissuer: https://a.example", "issuer"),
        ("issuers: [https://a.example]\naudiences: [x]\njwks_file: /x", "jwks_file"),
        ("issuers: [https://a.example]\naudiences: [x]\ndiscovery_url: https://a.example", "discovery_url"),
        ("issuers: [https://a.example, https://a.example]\naudiences: [x]", "listed twice"),
        ("issuers: [http://a.example]\naudiences: [x]", "http is not allowed"),
        ("issuers: [https://a.example]", "needs audiences"), ("issuers: any\naudiences: [x]", "no effect"),
        ("issuers: any\ntokens: access", "ID Tokens only"),
        ("issuer: https://a.example\naudiences: [x]\nmax_issuers: 5", "max_issuers"),
        ("issuers: any\nissuers_file: /x", "not both"),
    ])
    func `what does not fit is refused`(text: String, part: String) throws {
        let faults = try faults("providers:\n  - id: p\n" + indented(text))
        #expect(faults.contains { $0.message.contains(part) }, "\(faults)")
    }

    @Test func `an issuer stands once in all entries of one kind, but open ones`() throws {
        let own = "providers:\n  - { id: own, issuer: https://a.example, audiences: [x] }\n"
        let listed = "  - { id: listed, issuers: [https://b.example, https://a.example], audiences: [x] }\n"
        #expect(try fault(own + listed).message.contains("have the same issuer or alias (number 2 of listed)"))
        let others = "  - { id: others, issuers: [https://a.example], audiences: [x] }\n"
        #expect(try fault("providers:\n" + listed + others).message.contains("listed and others"))
        #expect(throws: Never.self) { try settings(own + "  - { id: open, issuers: any }\n") }
        let template = "  - { id: ms, preset: microsoft, tenant: common, audiences: [x] }\n"
        let tenant = "  - { id: t, issuers: [https://login.microsoftonline.com/abc/v2.0], audiences: [x] }\n"
        #expect(try fault("providers:\n" + template + tenant).message.contains("same issuer"))
        #expect(try fault("providers:\n" + tenant + template).message.contains("same issuer"))
    }

    @Test func `an open entry knows the issuers of the others`() throws {
        let read = try settings(
            "providers:\n  - { id: open, issuers: any }\n  - { id: own, issuer: https://a.example, audiences: [x] }\n")
        guard case .any(let rules)? = read.providers[0].issuers else {
            Issue.record("it is not open")
            return
        }
        #expect(rules.isShared("https://a.example"))
    }

    @Test func `idle_for is an hour for open entries and a day for lists, unless it is set`() throws {
        let keys = try settings("providers:\n  - { id: open, issuers: any }\n").keys
        #expect([keys.idleSeconds(isOpen: true), keys.idleSeconds(isOpen: false)] == [3600, 86400])
        let set = try settings("keys: { idle_for: 5m }\nproviders:\n  - { id: open, issuers: any }\n").keys
        #expect([set.idleSeconds(isOpen: true), set.idleSeconds(isOpen: false)] == [300, 300])
    }
}
