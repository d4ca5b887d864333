private import Glibc
internal import HTTP
internal import NIOCore
private import NIOPosix
private import Synchronization

/// Resolves host names with the system's resolver, which blocks a thread for as long as the name server hangs, on a few
/// threads that all providers share.
///
/// A lookup has no time limit and can't be stopped. So callers with the same name share one, and the providers whose
/// servers others may name get only some of the threads: a name server that hangs for them delays nobody else.
final class NameResolver: Sendable {
    private let threads: NIOThreadPool
    private let lookUp: @Sendable (String) -> [String]
    private let state: Mutex<State>

    static let shared = NameResolver()

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
    ///   - count: the maximum number of names that are looked up at the same time.
    ///   - countOfMany: the maximum number of them for entries with many issuers.
    ///   - lookUp: the addresses of a name; none if it does not exist. It may block.
    init(
        threads count: Int = 8, ofMany countOfMany: Int = 5,
        lookUp: @escaping @Sendable (String) -> [String] = systemLookup
    ) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
        self.lookUp = lookUp
        state = Mutex(State(limit: count, limitOfMany: countOfMany))
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// The addresses as text, in the order in which the system would try them, by a new lookup or one that is under way.
    ///
    /// - Throws: ``FetchFailure`` of the phase `dns`, also if the task is cancelled.
    func addresses(of name: String, for client: Client = .singleIssuer) async throws(FetchFailure) -> [String] {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        let addresses = await withTaskCancellationHandler {
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
        guard !addresses.isEmpty else { throw FetchFailure(.dns, "the host name has no address") }
        return addresses
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

    @Sendable private static func systemLookup(_ host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0 else { return [] }
        defer { unsafe freeaddrinfo(found) }
        var addresses: [String] = []
        var next = unsafe found
        while let entry = unsafe next {
            if let address = unsafe text(of: entry.pointee) { addresses.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }

    /// `nil` for anything but an IP address, and for one that is valid on one link only.
    @unsafe private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.contains("%") ? nil : text
    }
}

/// Runs calls that block on a disk, on a few threads that all providers share.
///
/// Such a call has no time limit and can't be cancelled. Callers with the same key share one call, so a file that
/// hangs takes one thread, however often it is tried, and delays no other while a thread is free.
final class BlockingCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let threads: NIOThreadPool
    private let underWay = Mutex<[Key: Call]>([:])

    private struct Call {
        let result: Task<Value, any Error>
        /// Whether it has exceeded a time limit.
        var isOverdue = false
    }

    init(threads count: Int) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// The result of a call, or of one for the same key that has not returned yet.
    func run(for key: Key, _ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await underWay.withLock { underWay in
            if let running = underWay[key] { return running.result }
            let running = Task { [threads] in
                defer { self.underWay.withLock { $0[key] = nil } }
                return try await threads.runIfActive(call)
            }
            underWay[key] = Call(result: running)
            return running
        }.value
    }

    /// The same within a time limit. Until a call that has exceeded it returns, others for its key fail at once: a disk
    /// that hangs is waited for only once.
    ///
    /// - Throws: `timeout`.
    func run(
        for key: Key, within limit: Interval, on loop: any EventLoop, orThrow timeout: FetchFailure,
        _ call: @escaping @Sendable () -> Value
    ) async throws(FetchFailure) -> Value {
        guard underWay.withLock({ $0[key]?.isOverdue }) != true else { throw timeout }
        do throws(FetchFailure) {
            return try await loop.withTimeout(limit, orThrow: timeout) { () async throws(FetchFailure) in
                guard let value = try? await self.run(for: key, call) else { throw timeout }
                return value
            }
        } catch {
            underWay.withLock { $0[key]?.isOverdue = true }
            throw error
        }
    }
}

extension EventLoop {
    /// Runs an operation, and fails at its timeout even if the operation can't be cancelled, like a name lookup or a
    /// read from a hanging disk. Cancelling the task cancels the operation.
    func withTimeout<Value: Sendable>(
        _ limit: Interval, orThrow timeout: FetchFailure,
        _ operation: @escaping @Sendable () async throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        let outcome = makePromise(of: Result<Value, FetchFailure>.self)
        let running = Task {
            do throws(FetchFailure) {
                outcome.succeed(.success(try await operation()))
            } catch {
                outcome.succeed(.failure(error))
            }
        }
        let timer = scheduleTask(in: .milliseconds(limit.milliseconds)) {
            running.cancel()
            outcome.succeed(.failure(timeout))
        }
        defer { timer.cancel() }
        // The promise never fails.
        return try await withTaskCancellationHandler {
            (try? await outcome.futureResult.get()) ?? .failure(timeout)
        } onCancel: {
            running.cancel()
        }.get()
    }
}
