private import Synchronization
internal import Telemetry

/// Logs the first token of each provider that was refused because it is bound to a key, and names the setting that would
/// accept such tokens. Metrics count the others.
final class BoundTokenLog: Sendable {
    private let log: Log
    private let reported = Mutex<Set<String>>([])

    init(_ log: Log) { self.log = log }

    func note(refusalBy provider: String) {
        guard reported.withLock({ $0.insert(provider).inserted }) else { return }
        log.write(
            .warning, "access token bound to a key refused",
            [
                ("provider", .text(provider)), ("code", .text("binding_required")),
                ("setting", .text("unchecked_bindings")),
            ])
    }
}
