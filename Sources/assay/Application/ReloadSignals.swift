import UnixSignals

/// SIGHUP, which reloads the settings file. It is caught from the moment of creation.
struct ReloadSignals: Sendable {
    private let signals: UnixSignalsSequence

    init() async { signals = await UnixSignalsSequence(trapping: .sighup) }

    /// Calls `body` at each SIGHUP until the task is cancelled; several in quick succession may count as one.
    func each(_ body: () -> Void) async {
        for await _ in signals { body() }
    }
}
