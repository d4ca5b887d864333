private import Clocks
private import JSON

/// The operator's log: one JSON object a line.
///
/// Messages are constants and values are metadata. There is no way to log a token, a nonce, an address, a subject or a key:
/// the values that lines are made of are ids from the settings, codes, counts and texts written in this code.
package struct Log: Sendable {
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
        case texts([String])
        case none
    }

    private let sink: LogSink
    private let minimumLevel: Level
    private let unixMilliseconds: @Sendable () -> Int64

    package init(
        to sink: LogSink, from minimumLevel: Level, unixMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.sink = sink
        self.minimumLevel = minimumLevel
        self.unixMilliseconds = unixMilliseconds
    }

    package func write(_ level: Level, _ message: StaticString, _ values: [(name: StaticString, value: Value)] = []) {
        guard level.rank >= minimumLevel.rank else { return }
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.name("time")
        json.value(Timestamp.text(unixMilliseconds: unixMilliseconds()))
        json.name("level")
        json.value(level.rawValue)
        json.name("message")
        json.value(String(describing: message))
        for (name, value) in values {
            json.name(name)
            switch value {
            case .text(let text): json.value(text)
            case .number(let number): json.value(number)
            case .texts(let texts):
                json.beginArray()
                for text in texts { json.value(text) }
                json.endArray()
            case .none: json.null()
            }
        }
        json.endObject()
        sink.write(json.bytes + [UInt8(ascii: "\n")])
    }
}
