private import Synchronization

/// Reports when a server can't be used, when the reason changes, and when every event loop can use it again. Does not
/// report every failed connection in between.
package final class StoreMonitor: Sendable {
    private let state = Mutex(State())
    private let report: @Sendable (StoreAddress, News) -> Void

    package enum News: Sendable, Equatable {
        case failed(StoreFailure)
        case recovered
        /// The server does not say whether it evicts.
        case unknownEviction
    }

    private struct State {
        var failing: [StoreAddress: Failing] = [:]
        /// Servers that don't say whether they evict.
        var silent: Set<StoreAddress> = []
    }

    /// The event loops' nodes that can't use a server.
    private struct Failing {
        var nodes: Set<ObjectIdentifier> = []
        var failure: StoreFailure
    }

    /// - Parameter report: called on any event loop.
    package init(_ report: @escaping @Sendable (StoreAddress, News) -> Void) { self.report = report }

    func failed(_ node: ValkeyNode, _ failure: StoreFailure) {
        let isNew = state.withLock { state in
            let before = state.failing[node.address]
            state.failing[node.address, default: Failing(failure: failure)].nodes.insert(ObjectIdentifier(node))
            state.failing[node.address]?.failure = failure
            return before?.failure != failure
        }
        if isNew { report(node.address, .failed(failure)) }
    }

    func recovered(_ node: ValkeyNode) {
        if forget(node) { report(node.address, .recovered) }
    }

    /// Reported once in the process's life.
    func hasUnknownEviction(_ node: ValkeyNode) {
        if state.withLock({ $0.silent.insert(node.address).inserted }) { report(node.address, .unknownEviction) }
    }

    /// - Returns: whether it was the last node that could not use the server.
    @discardableResult
    func forget(_ node: ValkeyNode) -> Bool {
        state.withLock { state in
            guard state.failing[node.address]?.nodes.remove(ObjectIdentifier(node)) != nil,
                state.failing[node.address]?.nodes.isEmpty == true
            else { return false }
            state.failing[node.address] = nil
            return true
        }
    }
}
