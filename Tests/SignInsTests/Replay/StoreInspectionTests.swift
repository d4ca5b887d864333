@testable import SignIns
import Testing

@Suite struct StoreInspectionTests {
    @Test(
        arguments: [
            ("noeviction", "yes", "", [.ok, .ok, .ok]),
            ("noeviction", "no", "3600 1", [.ok, .ok, .ok]),
            ("noeviction", "no", "", [.ok, .ok, .warning]),
            ("allkeys-lru", "yes", "", [.ok, .failure, .ok]),
            ("volatile-ttl", "no", "", [.ok, .failure, .warning]),
            (nil, "yes", "", [.ok, .warning, .ok]),
            ("noeviction", nil, "", [.ok, .ok, .warning]),
        ] as [(String?, String?, String, [StoreFinding.Level])])
    func `a store must not evict, and should keep what it has`(
        policy: String?, log: String?, save: String, levels: [StoreFinding.Level]
    ) {
        let report = ServerReport(evictionPolicy: policy)
        let findings = StoreInspection.findings(report, log: log, save: save, allowsEviction: false)
        #expect(findings.map(\.level) == levels)
    }

    @Test func `allowed eviction is a warning`() {
        let report = ServerReport(evictionPolicy: "allkeys-lru")
        let findings = StoreInspection.findings(report, log: "yes", save: "", allowsEviction: true)
        #expect(findings.map(\.level) == [.ok, .warning, .ok])
    }

    @Test func `a replica is a failure`() {
        let report = ServerReport(evictionPolicy: "noeviction", isReplica: true)
        let findings = StoreInspection.findings(report, log: "yes", save: "", allowsEviction: true)
        #expect(findings.map(\.level) == [.ok, .failure, .ok, .ok])
    }
}
