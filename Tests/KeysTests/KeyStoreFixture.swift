import HTTP
import Keys
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A fetcher whose fetches end when the test says so.
actor PatientFetcher: KeyFetching {
    private(set) var modes: [FetchMode] = []
    private var pending: [CheckedContinuation<Result<FetchedKeys, FetchFailure>, Never>] = []

    var calls: Int { modes.count }

    func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        modes.append(mode)
        return try await withCheckedContinuation { pending.append($0) }.get()
    }

    /// Waits for a fetch to start, and ends it.
    func end(
        _ result: Result<FetchedKeys, FetchFailure>
    ) async throws {
        try await begun()
        pending.removeFirst().resume(returning: result)
    }

    /// Waits for a fetch to start.
    func begun() async throws {
        try await eventually { !pending.isEmpty }
    }
}

/// A test's key store, with its source of keys and its reports.
struct KeyStoreFixture: Sendable {
    let fetcher = PatientFetcher()
    let fallback = PatientFetcher()
    let events = Events()
    var loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    /// Not those of the whole process: tests that generate RSA keys there would delay the disk beyond a store's patience.
    static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return threads
    }()

    final class Events: Sendable {
        private let seen = Mutex<[KeyEvent]>([])
        var all: [KeyEvent] { seen.withLock { $0 } }
        func record(_ event: KeyEvent) { seen.withLock { $0.append(event) } }
    }

    func store(
        _ archive: KeyArchive? = nil, _ rules: KeyRules = KeyRules(), fallingBack: Bool = false,
        slots: FetchSlots? = nil
    ) -> KeyStore {
        KeyStore(
            rules: rules, fetcher: fetcher, fallback: fallingBack ? fallback : nil, archive: archive,
            threads: Self.threads, slots: slots, on: loop
        ) { [events] in
            events.record($0)
        }
    }

    func soon(_ milliseconds: Int64 = 120_000) -> MonotonicTime {
        SystemClocks.monotonic() + Interval(milliseconds: milliseconds)
    }
}
