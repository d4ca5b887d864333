private import Bytes

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
    func failure(allowingEviction: Bool) -> StoreFailure? {
        if isReplica { return .replica }
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
