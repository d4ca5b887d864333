import IDToken
import JOSE
import Testing
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
}
