private import Synchronization

/// Reports when a server becomes unreachable, when the reason changes, and when every event loop reaches it again. Does
/// not report every failed connection in between.
package final class StoreMonitor: Sendable {
    private let failing = Mutex<[StoreAddress: Failing]>([:])
    private let report: @Sendable (StoreAddress, _ reason: String?) -> Void

    /// The event loops' nodes that can't reach a server.
    private struct Failing {
        var nodes: Set<ObjectIdentifier> = []
        var reason: String
    }

    /// - Parameter report: called on any event loop; the reason is `nil` when the server is reachable again.
    package init(_ report: @escaping @Sendable (StoreAddress, _ reason: String?) -> Void) { self.report = report }

    func failed(_ node: ValkeyNode, _ reason: String) {
        let isNew = failing.withLock { failing in
            let before = failing[node.address]
            failing[node.address, default: Failing(reason: reason)].nodes.insert(ObjectIdentifier(node))
            failing[node.address]?.reason = reason
            return before?.reason != reason
        }
        if isNew { report(node.address, reason) }
    }

    func recovered(_ node: ValkeyNode) {
        if forget(node) { report(node.address, nil) }
    }

    /// - Returns: whether it was the last node that could not reach the server.
    @discardableResult
    func forget(_ node: ValkeyNode) -> Bool {
        failing.withLock { failing in
            guard failing[node.address]?.nodes.remove(ObjectIdentifier(node)) != nil,
                failing[node.address]?.nodes.isEmpty == true
            else { return false }
            failing[node.address] = nil
            return true
        }
    }
}
