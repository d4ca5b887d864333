private import Glibc
internal import HTTP
internal import NIOCore
private import NIOPosix
private import Synchronization

/// Resolves host names for one provider, with the system's resolver.
///
/// The resolver blocks its thread without a limit (``BlockingCalls``).
final class NameResolver: Sendable {
    private let blocking: BlockingCalls
    private let underWay = Mutex<[String: Task<[String], Never>]>([:])

    init(on blocking: BlockingCalls = BlockingCalls()) { self.blocking = blocking }

    /// The addresses as text, in the order in which the system would try them. Concurrent calls for the same name share
    /// one lookup.
    ///
    /// - Throws: ``FetchFailure`` of the phase `dns`.
    func addresses(of host: String) async throws(FetchFailure) -> [String] {
        let lookup = underWay.withLock { underWay in
            if let lookup = underWay[host] { return lookup }
            let lookup = Task { [blocking] in
                let addresses = (try? await blocking.run { Self.resolve(host) }) ?? []
                self.underWay.withLock { $0[host] = nil }
                return addresses
            }
            underWay[host] = lookup
            return lookup
        }
        let addresses = await lookup.value
        guard !addresses.isEmpty else { throw FetchFailure(.dns, "the host name has no address") }
        return addresses
    }

    private static func resolve(_ host: String) -> [String] {
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

/// Runs calls that block on a name server or a disk, on a thread of its own.
///
/// Each provider has one, so that a hanging name server delays only its own providers, and can't use up the machine's
/// threads.
final class BlockingCalls: Sendable {
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init() { thread.start() }

    deinit { thread.shutdownGracefully { _ in } }

    /// Runs a call after the earlier ones have returned.
    func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.runIfActive(call)
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
