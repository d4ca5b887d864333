import UnixSignals

/// The signals that end the process, caught from the moment this is made.
struct StopSignals: Sendable {
    private let signals: UnixSignalsSequence

    init() async { signals = await UnixSignalsSequence(trapping: .sigterm, .sigint) }

    /// Returns at the first SIGTERM or SIGINT, also one that came before.
    func wait() async {
        for await _ in signals { return }
    }
}
