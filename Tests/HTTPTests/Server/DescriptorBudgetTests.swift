@testable import HTTP
import Testing

@Suite struct DescriptorBudgetTests {
    /// The number of connections allowed, given a limit on file descriptors.
    private func connections(
        _ configured: Int, of descriptors: Int, providers: Int = 2, storeLoops: Int = 0, calls: Int = 0
    ) -> Int {
        let budget = DescriptorBudget(limit: descriptors, fetches: providers, storeLoops: storeLoops, calls: calls)
        var service = ListenerLimits()
        service.maximumConnections = configured
        var admin = ListenerLimits()
        admin.maximumConnections = 64
        let wasLowered = budget.fit(&service, admin: admin)
        #expect(wasLowered == (service.maximumConnections < configured))
        #expect(
            service.maximumConnections == 1
                || service.descriptors + admin.descriptors + budget.reserve <= descriptors)
        return service.maximumConnections
    }

    @Test func `both listeners fit, with those they refuse, and leave a reserve`() {
        #expect(connections(10_000, of: 16_384) == 10_000)
        // 80 in reserve, 129 for the admin listener, and for the service its socket, 10,000 connections and 625 more.
        #expect(connections(10_000, of: 10_835) == 10_000)
        #expect(connections(10_000, of: 10_834) == 9999)
        #expect(connections(10_000, of: 1024) == 750)
        #expect(connections(100, of: 1024) == 100)
    }

    @Test func `the more providers, the more is kept for them`() {
        #expect(connections(10_000, of: 1024, providers: 30) < 750)
    }

    @Test func `the connections to a store are kept for it`() {
        #expect(connections(10_000, of: 10_835 + 32, storeLoops: 4) == 10_000)
        #expect(connections(10_000, of: 10_834 + 32, storeLoops: 4) == 9999)
    }

    @Test func `so are those to providers, up to a number that no machine reaches`() {
        #expect(connections(10_000, of: 10_835 + 64, calls: 64) == 10_000)
        #expect(connections(10_000, of: 10_834 + 64, calls: 64) == 9999)
        #expect(connections(10_000, of: 10_835 + 4096, calls: 1_000_000) == 10_000)
    }

    @Test(arguments: [0, 64, 274]) func `with next to none there is one connection`(descriptors: Int) {
        #expect(connections(10_000, of: descriptors) == 1)
    }
}
