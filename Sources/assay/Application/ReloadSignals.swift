import UnixSignals

/// The signal that has the settings file read again, caught from the moment this is made.
struct ReloadSignals: Sendable {
    private let signals: UnixSignalsSequence

    init() async { signals = await UnixSignalsSequence(trapping: .sighup) }

    /// Calls `body` at each SIGHUP until it is cancelled; several in quick succession may count as one.
    func each(_ body: () -> Void) async {
        for await _ in signals { body() }
    }
}
