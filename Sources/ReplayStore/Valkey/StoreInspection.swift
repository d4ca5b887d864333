package import NIOCore

/// One result of inspecting a store, for operators.
package struct StoreFinding: Sendable, Equatable {
    package let level: Level
    package let message: String

    package enum Level: String, Sendable {
        case ok
        /// Sign-ins work, but there is a risk.
        case warning
        /// A sign-in can't be finished, or could be finished twice.
        case failure
    }
}

/// Connects to a store once, as the service does, and checks its settings: whether it can lose claims when memory is
/// short, or at a restart.
package enum StoreInspection {
    /// Must be called on the event loop.
    package static func findings(_ settings: ValkeySettings, on loop: any EventLoop) -> EventLoopFuture<[StoreFinding]>
    {
        var settings = settings
        settings.acceptsAnyServer = true
        // Only the first result counts.
        let promise = loop.makePromise(of: [StoreFinding].self)
        let monitor = StoreMonitor { _, news in
            guard case .failed(let failure) = news else { return }
            promise.succeed([StoreFinding(level: .failure, message: "can't be used: \(failure.reason)")])
        }
        let allowsEviction = settings.allowsEviction
        let node = ValkeyNode(settings.address, settings, on: loop, monitor, isPermanent: false) { _ in }
        node.whenReady { connection in
            guard let replies = connection?.replies else { return }
            ServerReport.read(over: replies) { report in
                replies.send(.setting("appendonly")) { log in
                    replies.send(.setting("save")) { save in
                        promise.succeed(
                            findings(report, log: log.setting, save: save.setting, allowsEviction: allowsEviction))
                        node.end()
                    }
                }
            }
        }
        return promise.futureResult
    }

    /// Evaluates a server and its settings; `nil` for those that can't be read.
    static func findings(
        _ report: ServerReport, log: String?, save: String?, allowsEviction: Bool
    ) -> [StoreFinding] {
        var findings = [StoreFinding(level: .ok, message: "connected")]
        if report.isReplica { findings.append(StoreFinding(level: .failure, message: StoreFailure.replica.reason)) }
        findings.append(eviction(report.evictionPolicy, isAllowed: allowsEviction))
        findings.append(persistence(log: log, save: save))
        return findings
    }

    private static func eviction(_ policy: String?, isAllowed: Bool) -> StoreFinding {
        guard let policy else {
            return StoreFinding(
                level: .warning,
                message:
                    "CONFIG GET and INFO are denied, so maxmemory-policy can't be checked; set it to noeviction, and permit one of them"
            )
        }
        guard policy != ServerReport.noEviction else {
            return StoreFinding(level: .ok, message: "maxmemory-policy is \(policy)")
        }
        return StoreFinding(
            level: isAllowed ? .warning : .failure, message: StoreFailure.evicting(policy: policy).reason)
    }

    private static func persistence(log: String?, save: String?) -> StoreFinding {
        guard let log, let save else {
            return StoreFinding(
                level: .warning,
                message: "CONFIG GET is denied, so persistence can't be checked; turn on appendonly or save")
        }
        guard log == "yes" || !save.isEmpty else {
            return StoreFinding(
                level: .warning,
                message:
                    "appendonly and save are off: a restart of the store loses its records, and recent sign-ins can be finished again"
            )
        }
        return StoreFinding(level: .ok, message: "\(log == "yes" ? "appendonly" : "save") is on")
    }
}
