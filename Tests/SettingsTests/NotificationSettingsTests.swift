import IDToken
@testable import Settings
import Testing

@Suite struct NotificationSettingsTests {
    private static func provider(_ members: String) -> String {
        "audiences: [a]\nissuer: https://a.example\n" + members
    }

    @Test func `none are accepted unless kinds are listed`() throws {
        #expect(try read(provider: Self.provider("")).notifications == nil)
        #expect(try read(provider: Self.provider("notifications: []\n")).notifications == nil)
    }

    @Test func `kinds and the maximum age`() throws {
        let usual = try #require(read(provider: Self.provider("notifications: [logout]\n")).notifications)
        #expect(usual == NotificationRules(kinds: [.logout]))
        #expect(usual.maximumAgeSeconds == 604_800)
        let yaml = "notifications: [apple, security_event]\nnotifications_max_age: 1h\n"
        let rules = try #require(read(provider: Self.provider(yaml)).notifications)
        #expect(rules.kinds == [.apple, .securityEvent])
        #expect(rules.maximumAgeSeconds == 3600)
    }

    @Test func `Google's notifications have other spellings of its issuer`() throws {
        let yaml = "preset: google\naudiences: [a]\nnotifications: [security_event]\n"
        #expect(
            try read(provider: yaml).notifications?.issuers
                == ["https://accounts.google.com/", "accounts.google.com"])
    }

    @Test(arguments: [("1s", true), ("90d", true), ("0s", false), ("91d", false)])
    func `the maximum age is one second to 90 days`(age: String, isGood: Bool) throws {
        let yaml = Self.provider("notifications: [logout]\nnotifications_max_age: \(age)\n")
        if isGood {
            _ = try read(provider: yaml)
        } else {
            let found = try fault("providers:\n  - id: p\n" + indented(yaml))
            #expect(found.message.hasPrefix("notifications_max_age must be a duration"))
        }
    }

    @Test(arguments: [
        (
            "notifications: [apple, logouts]\n",
            "each of notifications must be one of apple, logout, security_event; found \"logouts\"; did you mean logout?"
        ),
        ("notifications: logout\n", "notifications must be a list; found \"logout\""),
        (
            "notifications_max_age: 1h\n",
            "notifications_max_age has no effect without notifications; list the kinds there, or remove it"
        ),
        (
            "notifications: []\nnotifications_max_age: 1h\n",
            "notifications_max_age has no effect without notifications; list the kinds there, or remove it"
        ),
    ])
    func `faults`(yaml: String, message: String) throws {
        #expect(try fault("providers:\n  - id: p\n" + indented(Self.provider(yaml))).message == message)
    }

    @Test func `they need audiences`() throws {
        let yaml = """
            issuer: https://a.example
            audiences: none
            authorized_parties: [b]
            notifications: [logout]
            """
        #expect(
            try fault("providers:\n  - id: p\n" + indented(yaml)).message
                == "notifications need audiences, because only aud says that they are for you; replace audiences: none")
    }

    @Test func `the maximum age that holds is shown`() throws {
        let yaml = "providers:\n  - id: p\n" + indented(Self.provider("notifications: [logout]\n"))
        let shown = try Settings.read(yaml: yaml, environment: [:]).effective.yaml(namesOrigins: false)
        #expect(shown.contains("notifications_max_age: 7d\n"))
    }
}
