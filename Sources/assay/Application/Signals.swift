import UnixSignals

/// The signals that stop the process, caught from the moment of creation.
struct StopSignals: Sendable {
    /// Streams without elements that end at the first and at the second signal.
    private let first: AsyncStream<Never>
    private let second: AsyncStream<Never>

    init() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let (first, firstSource) = AsyncStream.makeStream(of: Never.self)
        let (second, secondSource) = AsyncStream.makeStream(of: Never.self)
        (self.first, self.second) = (first, second)
        // A sequence of signals can be iterated only once.
        Task {
            var sources = [firstSource, secondSource][...]
            for await _ in signals { sources.popFirst()?.finish() }
        }
    }

    /// Returns at the first SIGTERM or SIGINT, even if it came before the call, or when the task is cancelled.
    func wait() async { for await _ in first {} }

    /// Returns at the second SIGTERM or SIGINT, even if it came before the call, or when the task is cancelled.
    func waitForAnother() async { for await _ in second {} }
}

/// SIGHUP, which reloads the settings file. It is caught from the moment of creation.
struct ReloadSignals: Sendable {
    private let signals: UnixSignalsSequence

    init() async { signals = await UnixSignalsSequence(trapping: .sighup) }

    /// Calls `body` at each SIGHUP until the task is cancelled; several in quick succession may count as one.
    func each(_ body: () -> Void) async {
        for await _ in signals { body() }
    }
}
