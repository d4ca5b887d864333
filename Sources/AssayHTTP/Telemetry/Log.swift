private import Clocks
private import JSON
private import Synchronization

/// The operator's log: one JSON object a line.
///
/// Messages are constants and values are metadata: ids from the settings, codes, counts and texts written in this code. No
/// token, nonce, address, subject or key comes near it.
package final class Log: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        case debug, info, warning, error

        fileprivate var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    package enum Value: Sendable {
        case text(String)
        case number(Int64)
    }

    private let sink: LogSink
    private let minimumRank: Atomic<Int>
    private let unixMilliseconds: @Sendable () -> Int64

    package init(
        to sink: LogSink, from minimumLevel: Level, unixMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.sink = sink
        minimumRank = Atomic(minimumLevel.rank)
        self.unixMilliseconds = unixMilliseconds
    }

    /// Writes from another level on.
    package func change(minimumLevel: Level) { minimumRank.store(minimumLevel.rank, ordering: .relaxed) }

    package func write(_ level: Level, _ message: StaticString, _ values: [(name: StaticString, value: Value)] = []) {
        guard level.rank >= minimumRank.load(ordering: .relaxed) else { return }
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("time", Timestamp.text(unixMilliseconds: unixMilliseconds()))
        json.member("level", level.rawValue)
        json.member("message", String(describing: message))
        for (name, value) in values {
            json.name(name)
            switch value {
            case .text(let text): json.value(text)
            case .number(let number): json.value(number)
            }
        }
        json.endObject()
        sink.write(json.bytes + [UInt8(ascii: "\n")])
    }
}
