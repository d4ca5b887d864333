private import Bytes
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
        // Only the first result counts.
        let promise = loop.makePromise(of: [StoreFinding].self)
        let monitor = StoreMonitor { _, reason in
            guard let reason else { return }
            promise.succeed([StoreFinding(level: .failure, message: "can't be used: \(reason)")])
        }
        let node = ValkeyNode(settings.address, settings, on: loop, monitor, isPermanent: false) { _ in }
        node.whenReady { connection in
            guard let replies = connection?.replies else { return }
            replies.send(.setting("maxmemory-policy")) { policy in
                replies.send(.setting("appendonly")) { log in
                    replies.send(.setting("save")) { save in
                        promise.succeed(findings(policy: value(policy), log: value(log), save: value(save)))
                        node.end()
                    }
                }
            }
        }
        return promise.futureResult
    }

    /// Evaluates settings; `nil` for those that can't be read.
    static func findings(policy: String?, log: String?, save: String?) -> [StoreFinding] {
        let connected = StoreFinding(level: .ok, message: "connected")
        guard let policy, let log, let save else {
            return [
                connected,
                StoreFinding(
                    level: .warning,
                    message:
                        "CONFIG GET is denied, so the store's settings can't be checked; set maxmemory-policy to noeviction, and turn on appendonly or save"
                ),
            ]
        }
        let eviction =
            policy == "noeviction"
            ? StoreFinding(level: .ok, message: "maxmemory-policy is noeviction")
            : StoreFinding(
                level: .failure,
                message:
                    "maxmemory-policy is \(policy): records can be evicted, and sign-ins then finished twice; set it to noeviction"
            )
        let persistence =
            log == "yes" || !save.isEmpty
            ? StoreFinding(level: .ok, message: "\(log == "yes" ? "appendonly" : "save") is on")
            : StoreFinding(
                level: .warning,
                message:
                    "appendonly and save are off: a restart of the store loses its records, and recent sign-ins can be finished again"
            )
        return [connected, eviction, persistence]
    }

    /// The value in the reply to `CONFIG GET`; `nil` if it is not printable.
    private static func value(_ result: ReplyQueue.Result) -> String? {
        guard case .reply(.array(let elements)) = result, elements.count == 2,
            elements[1].allSatisfy(\.isPrintableASCII)
        else { return nil }
        return String(decoding: elements[1], as: UTF8.self)
    }
}
