private import NIOPosix
private import Synchronization

/// Runs lookups of host names, which block on a name server, on a few threads that all providers share.
///
/// A lookup has no time limit and can't be stopped. So callers with the same name share one, and the providers whose
/// servers others may name get only some of the threads: a name server that hangs for them delays nobody else.
final class NameLookups: Sendable {
    private let threads: NIOThreadPool
    private let lookUp: @Sendable (String) -> [String]
    private let state: Mutex<State>

    /// Whose lookup it is.
    enum Client: Sendable {
        /// A provider of the settings with one issuer.
        case singleIssuer
        /// One of an entry's many issuers.
        case manyIssuers
    }

    private typealias Waiter = CheckedContinuation<[String], Never>

    private struct State {
        let limit: Int
        let limitOfMany: Int
        var running: [String: Client] = [:]
        /// The names to look up, in order, by whose they are.
        var queue: [String] = []
        var queueOfMany: [String] = []
        var waiters: [String: [Int: Waiter]] = [:]
        var nextWaiter = 0

        /// Takes the names whose lookups begin now.
        mutating func begin() -> [String] {
            var begun: [String] = []
            while running.count < limit {
                let name: String
                if !queue.isEmpty {
                    name = queue.removeFirst()
                    running[name] = .singleIssuer
                } else if !queueOfMany.isEmpty, running.values.count(where: { $0 == .manyIssuers }) < limitOfMany {
                    name = queueOfMany.removeFirst()
                    running[name] = .manyIssuers
                } else {
                    break
                }
                begun.append(name)
            }
            return begun
        }

        /// Adds a name, unless its lookup is running or waits. One for a provider with one issuer goes before those of
        /// others.
        mutating func add(_ name: String, for client: Client) {
            guard running[name] == nil, !queue.contains(name) else { return }
            switch client {
            case .singleIssuer:
                queueOfMany.removeAll { $0 == name }
                queue.append(name)
            case .manyIssuers: if !queueOfMany.contains(name) { queueOfMany.append(name) }
            }
        }

        /// Forgets a waiter, and the lookup too if it has not begun and nobody else waits for it.
        mutating func remove(_ id: Int, of name: String) -> Waiter? {
            let waiter = waiters[name]?.removeValue(forKey: id)
            if waiters[name]?.isEmpty == true {
                waiters[name] = nil
                queue.removeAll { $0 == name }
                queueOfMany.removeAll { $0 == name }
            }
            return waiter
        }
    }

    /// - Parameters:
    ///   - count: the most lookups at the same time.
    ///   - countOfMany: the most of them for entries with many issuers.
    ///   - lookUp: the addresses of a name; none if it does not exist. It may block.
    init(threads count: Int, ofMany countOfMany: Int, lookUp: @escaping @Sendable (String) -> [String]) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
        self.lookUp = lookUp
        state = Mutex(State(limit: count, limitOfMany: countOfMany))
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// The addresses of a name, by a new lookup or one that is under way; none if the task is cancelled.
    func addresses(of name: String, for client: Client) async -> [String] {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let begun = state.withLock { state -> [String]? in
                    guard !Task.isCancelled else { return nil }
                    state.waiters[name, default: [:]][id] = waiter
                    state.add(name, for: client)
                    return state.begin()
                }
                guard let begun else { return waiter.resume(returning: []) }
                for name in begun { start(name) }
            }
        } onCancel: {
            state.withLock { $0.remove(id, of: name) }?.resume(returning: [])
        }
    }

    private func start(_ name: String) {
        threads.submit { [lookUp] state in
            guard case .active = state else { return self.end(name, []) }
            self.end(name, lookUp(name))
        }
    }

    private func end(_ name: String, _ addresses: [String]) {
        let (waiters, begun) = state.withLock { state in
            state.running[name] = nil
            return (state.waiters.removeValue(forKey: name) ?? [:], state.begin())
        }
        for waiter in waiters.values { waiter.resume(returning: addresses) }
        for name in begun { start(name) }
    }
}
