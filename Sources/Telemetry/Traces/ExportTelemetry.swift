/// What the exporter of spans tells, logged at each change.
package struct ExportTelemetry: Sendable {
    private let log: Log

    package init(log: Log) { self.log = log }

    /// Takes note of one event.
    package func record(_ event: ExportEvent) {
        switch event {
        case .failed(let reason, let isFirst):
            log.write(isFirst ? .warning : .debug, "spans can't be exported", [("reason", .text(reason))])
        case .recovered: log.write(.info, "spans can be exported again")
        }
    }
}
