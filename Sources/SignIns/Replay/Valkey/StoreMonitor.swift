private import Bytes
package import NIOCore
private import Synchronization

/// Reports when a server can't be used, when the reason changes, and when every event loop can use it again. Does not
/// report every failed connection in between.
package final class StoreMonitor: Sendable {
    private let state = Mutex(State())
    private let report: @Sendable (StoreAddress, News) -> Void

    package enum News: Sendable, Equatable {
        case failed(StoreFailure)
        case recovered
        /// The server does not say whether it evicts.
        case unknownEviction
    }

    private struct State {
        var failing: [StoreAddress: Failing] = [:]
        /// Servers that don't say whether they evict.
        var silent: Set<StoreAddress> = []
    }

    /// The event loops' nodes that can't use a server.
    private struct Failing {
        var nodes: Set<ObjectIdentifier> = []
        var failure: StoreFailure
    }

    /// - Parameter report: called on any event loop.
    package init(_ report: @escaping @Sendable (StoreAddress, News) -> Void) { self.report = report }

    func failed(_ node: ValkeyNode, _ failure: StoreFailure) {
        let isNew = state.withLock { state in
            let before = state.failing[node.address]
            state.failing[node.address, default: Failing(failure: failure)].nodes.insert(ObjectIdentifier(node))
            state.failing[node.address]?.failure = failure
            return before?.failure != failure
        }
        if isNew { report(node.address, .failed(failure)) }
    }

    func recovered(_ node: ValkeyNode) {
        if forget(node) { report(node.address, .recovered) }
    }

    /// Reported once in the process's life.
    func hasUnknownEviction(_ node: ValkeyNode) {
        if state.withLock({ $0.silent.insert(node.address).inserted }) { report(node.address, .unknownEviction) }
    }

    /// - Returns: whether it was the last node that could not use the server.
    @discardableResult
    func forget(_ node: ValkeyNode) -> Bool {
        state.withLock { state in
            guard state.failing[node.address]?.nodes.remove(ObjectIdentifier(node)) != nil,
                state.failing[node.address]?.nodes.isEmpty == true
            else { return false }
            state.failing[node.address] = nil
            return true
        }
    }
}

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
        let (allowsEviction, urlSetting) = (settings.allowsEviction, settings.urlSetting)
        let node = ValkeyNode(settings.address, settings, on: loop, monitor, isPermanent: false) { _ in }
        node.whenReady { connection in
            guard let replies = connection?.replies else { return }
            ServerReport.read(over: replies) { report in
                replies.send(.setting("appendonly")) { log in
                    replies.send(.setting("save")) { save in
                        promise.succeed(
                            findings(
                                report, log: log.setting, save: save.setting, allowsEviction: allowsEviction,
                                urlSetting: urlSetting))
                        node.end()
                    }
                }
            }
        }
        return promise.futureResult
    }

    /// Evaluates a server and its settings; `nil` for those that can't be read.
    static func findings(
        _ report: ServerReport, log: String?, save: String?, allowsEviction: Bool,
        urlSetting: String = ValkeySettings.usualURLSetting
    ) -> [StoreFinding] {
        var findings = [StoreFinding(level: .ok, message: "connected")]
        if report.isReplica {
            findings.append(StoreFinding(level: .failure, message: StoreFailure.replica(urlSetting).reason))
        }
        findings.append(eviction(report.evictionPolicy, isAllowed: allowsEviction))
        findings.append(persistence(log: log, save: save))
        return findings
    }

    private static func eviction(_ policy: String?, isAllowed: Bool) -> StoreFinding {
        guard let policy else {
            return StoreFinding(
                level: .warning,
                message:
                    "neither CONFIG GET nor INFO shows maxmemory-policy, so it can't be checked; set it to noeviction, and permit one of these commands"
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
                message:
                    "CONFIG GET does not show appendonly and save, so persistence can't be checked; turn on one of them"
            )
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

/// What a server says about itself, as far as it permits the questions.
struct ServerReport: Equatable, Sendable {
    /// The `maxmemory-policy`; `nil` if it can't be read.
    var evictionPolicy: String?
    /// Whether it copies another server, and takes no writes. Replicas of a cluster don't count: they redirect to their
    /// primary.
    var isReplica = false
    /// The share of `maxmemory` in use; `nil` if there is no limit, or if it can't be read.
    var memoryUse: Double?

    /// Why the server must not be used; `nil` if nothing is known against it.
    ///
    /// - Parameter urlSetting: the setting that names the server.
    func failure(allowingEviction: Bool, urlSetting: String = ValkeySettings.usualURLSetting) -> StoreFailure? {
        if isReplica { return .replica(urlSetting) }
        guard !allowingEviction, let evictionPolicy, evictionPolicy != Self.noEviction else { return nil }
        return .evicting(policy: evictionPolicy)
    }

    static let noEviction = "noeviction"

    /// Asks the server. Does not call back if the connection ends before it has answered.
    static func read(over replies: ReplyQueue, _ completion: @escaping (ServerReport) -> Void) {
        var report = ServerReport()
        replies.send(.setting("maxmemory-policy")) { report.evictionPolicy = word($0.setting) }
        replies.send(.information("memory")) { result in
            let memory = result.information
            // Managed servers often forbid CONFIG.
            report.evictionPolicy = report.evictionPolicy ?? word(memory["maxmemory_policy"])
            if let limit = memory["maxmemory"].flatMap(Double.init), limit > 0 {
                report.memoryUse = memory["used_memory"].flatMap(Double.init).map { min($0 / limit, 1) }
            }
        }
        replies.send(.information("replication")) { report.isReplica = $0.information["role"] == "slave" }
        replies.send(.information("cluster")) { result in
            if result.information["cluster_enabled"] == "1" { report.isReplica = false }
            if case .reply = result { completion(report) }
        }
    }

    /// A word of a setting, which may be logged.
    private static func word(_ text: String?) -> String? {
        guard let text, (1...32).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "-") })
        else { return nil }
        return text
    }
}

extension ReplyQueue.Result {
    /// The value in the reply to `CONFIG GET`; `nil` if it is not printable.
    var setting: String? {
        guard case .reply(.array(let elements)) = self, elements.count == 2,
            elements[1].allSatisfy(\.isPrintableASCII)
        else { return nil }
        return String(decoding: elements[1], as: UTF8.self)
    }

    /// The values in the reply to `INFO`, by their names; empty if there is none.
    fileprivate var information: [String: String] {
        guard case .reply(.bulk(let text)) = self else { return [:] }
        let lines = String(decoding: text, as: UTF8.self).split { $0.isNewline }
        let values = lines.compactMap { line in
            line.firstIndex(of: ":").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
        }
        return Dictionary(values) { first, _ in first }
    }
}
