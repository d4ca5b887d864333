import Testing

@testable import ReplayStore

@Suite struct StoreInspectionTests {
    @Test(arguments: [
        ("noeviction", "yes", "", [StoreFinding.Level.ok, .ok, .ok]),
        ("noeviction", "no", "3600 1", [.ok, .ok, .ok]),
        ("noeviction", "no", "", [.ok, .ok, .warning]),
        ("allkeys-lru", "yes", "", [.ok, .failure, .ok]),
        ("volatile-ttl", "no", "", [.ok, .failure, .warning]),
    ])
    func `a store must not evict, and should keep what it has`(
        policy: String, log: String, save: String, levels: [StoreFinding.Level]
    ) {
        #expect(StoreInspection.findings(policy: policy, log: log, save: save).map(\.level) == levels)
    }

    @Test func `settings that can't be read get a warning`() {
        #expect(StoreInspection.findings(policy: nil, log: "no", save: "").map(\.level) == [.ok, .warning])
    }
}
