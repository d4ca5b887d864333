/// Divides the file descriptors of the process.
package struct DescriptorBudget {
    /// Reserved for key fetches, files, the log, the event loops and name lookups, so that clients can't keep the
    /// service from its keys.
    package let reserve: Int
    private let limit: Int

    /// - Parameter limit: the limit of the process.
    package init(limit: Int, providers: Int) {
        self.limit = limit
        reserve = 64 + 8 * providers
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
