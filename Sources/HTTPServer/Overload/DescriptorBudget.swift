/// Divides the file descriptors of the process.
package struct DescriptorBudget {
    /// Reserved for key fetches, calls to providers, the replay store, files, the log, the event loops and name
    /// lookups, so that clients can't use up the descriptors that the service itself needs.
    package let reserve: Int
    private let limit: Int
    /// The settings may allow more calls, but they are not all in flight at once.
    private static let maximumCalls = 4096

    /// - Parameters:
    ///   - limit: the limit of the process.
    ///   - storeLoops: event loops with connections to a replay store.
    ///   - calls: how many calls to providers may be in flight.
    package init(limit: Int, providers: Int, storeLoops: Int, calls: Int = 0) {
        self.limit = limit
        // Enough for a cluster of a few nodes, each with an open connection and a previous one that is still closing.
        reserve = 64 + 8 * providers + 8 * storeLoops + min(calls, Self.maximumCalls)
    }

    /// Lowers the service listener's connections to what the reserve and the admin listener leave.
    ///
    /// - Returns: whether it had to.
    package func fit(_ service: inout ListenerLimits, admin: ListenerLimits) -> Bool {
        let available = limit - reserve - admin.descriptors
        guard service.descriptors > available else { return false }
        service.maximumConnections = ListenerLimits.maximumConnections(within: available)
        return true
    }
}
