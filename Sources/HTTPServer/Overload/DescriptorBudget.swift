/// How the file descriptors that the process may have open are shared out.
package struct DescriptorBudget {
    /// What is kept for key fetches, files, the log, the event loops and name look-ups, so that no crowd of clients keeps
    /// the service from its keys.
    package let reserve: Int
    private let limit: Int

    /// - Parameter limit: how many there are.
    package init(limit: Int, providers: Int) {
        self.limit = limit
        reserve = 64 + 8 * providers
    }

    /// Lowers the service listener's connections to what the reserve and the admin listener leave.
    ///
    /// - Returns: whether there were too few.
    package func fit(_ service: inout ListenerLimits, admin: ListenerLimits) -> Bool {
        let available = limit - reserve - admin.descriptors
        guard service.descriptors > available else { return false }
        service.maximumConnections = ListenerLimits.maximumConnections(within: available)
        return true
    }
}
