@testable import SignIns
import Testing

@Suite struct ClaimQuotaTests {
    /// Reserves until there is no room, and returns how often there was.
    private func fill(_ quota: inout ClaimQuota, _ provider: String, of providers: Int) -> Int {
        var count = 0
        while count < 2000, quota.reserve(provider, sharedBy: providers) { count += 1 }
        return count
    }

    @Test(arguments: [(1, 1000), (2, 950), (4, 925), (10, 910), (200, 1000)])
    func `one provider gets all but the parts of the others`(providers: Int, most: Int) {
        var quota = ClaimQuota(capacity: 1000)
        let count = fill(&quota, "a", of: providers)
        #expect(count == most && quota.isFull && quota.total == most)
    }

    @Test func `each provider gets its part, however many others are flooded`() {
        var quota = ClaimQuota(capacity: 1000)
        for provider in ["a", "b", "c"] { _ = fill(&quota, provider, of: 4) }
        let last = fill(&quota, "d", of: 4)
        #expect(last == 25 && quota.total == 1000)
    }

    @Test func `room that is given back can be used again`() {
        var quota = ClaimQuota(capacity: 1000)
        _ = fill(&quota, "a", of: 2)
        quota.release("a", 1)
        #expect(!quota.isFull && quota.fill == 0.949)
        let more = fill(&quota, "a", of: 2)
        #expect(more == 1)
    }

    @Test func `claims of providers that were removed don't reserve room`() {
        var quota = ClaimQuota(capacity: 1000)
        for provider in ["gone-1", "gone-2", "gone-3"] {
            for _ in 0..<100 { _ = quota.reserve(provider, sharedBy: 4) }
        }
        let count = fill(&quota, "a", of: 1)
        #expect(count == 700)
    }
}
