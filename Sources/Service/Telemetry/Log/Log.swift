package import HTTP
private import JOSE
private import Synchronization

/// The operator's log: one JSON object per line.
///
/// Repeated warnings and errors are rate-limited per minute; one line then reports how many more there were. At level
/// `debug`, all are written.
///
/// Messages are constants. Values are metadata: ids from the settings, codes, counts and texts written in this code.
/// They never contain a token, nonce, address, subject or key.
package final class Log: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        /// From the lowest to the highest.
        case debug, info, warning, error

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package enum Value: Sendable {
        case text(String)
        case number(Int64)
        case texts([String])
        /// One of thousands of texts: lines that differ only in it are of the same kind.
        case oneOfMany(String)
    }

    private let sink: LogSink
    private let minimumRank: Atomic<Int>
    private let unixMilliseconds: @Sendable () -> Int64
    private let monotonic: @Sendable () -> MonotonicTime
    private let repeats: Mutex<LogRateLimiter<Kind>>

    /// Lines of the same kind are equal except for numbers and ``Value/oneOfMany(_:)``.
    private struct Kind: Hashable, Sendable {
        let level: Level
        let message: String
        let texts: [Text]

        struct Text: Hashable {
            let name: String
            let text: String
        }

        init(_ level: Level, _ message: StaticString, _ values: [(name: StaticString, value: Value)]) {
            self.level = level
            self.message = String(describing: message)
            texts = values.compactMap { name, value in
                switch value {
                case .text(let text): Text(name: String(describing: name), text: text)
                case .texts(let texts): Text(name: String(describing: name), text: texts.joined(separator: ", "))
                case .number, .oneOfMany: nil
                }
            }
        }
    }

    /// - Parameters:
    ///   - repeats: rate-limits lines of the same kind.
    ///   - unixMilliseconds: the wall clock, for the time of a line.
    ///   - monotonic: the clock of the rate limit.
    package init(
        to sink: LogSink, from minimumLevel: Level, repeats: LogRateLimits = LogRateLimits(),
        unixMilliseconds: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> MonotonicTime
    ) {
        self.sink = sink
        minimumRank = Atomic(minimumLevel.rank)
        self.repeats = Mutex(LogRateLimiter(repeats))
        self.unixMilliseconds = unixMilliseconds
        self.monotonic = monotonic
    }

    /// Changes the lowest level that is written.
    package func change(minimumLevel: Level) { minimumRank.store(minimumLevel.rank, ordering: .relaxed) }

    package func write(_ level: Level, _ message: StaticString, _ values: [(name: StaticString, value: Value)] = []) {
        let minimum = minimumRank.load(ordering: .relaxed)
        guard level.rank >= minimum else { return }
        if level.rank >= Level.warning.rank, minimum > Level.debug.rank {
            reportHeldBack()
            let (kind, now) = (Kind(level, message, values), monotonic())
            guard repeats.withLock({ $0.admits(kind, now: now) }) else { return }
        }
        write(level, String(describing: message)) { json in
            for (name, value) in values {
                switch value {
                case .text(let text), .oneOfMany(let text): json.member(name, text)
                case .number(let number): json.member(name, number)
                case .texts(let texts): json.array(name, texts)
                }
            }
        }
    }

    /// Reports the number of suppressed lines for windows that have ended.
    package func reportHeldBack() {
        let now = monotonic()
        write(repeats.withLock { $0.takeHeldBack(now: now) })
    }

    /// Reports the number of all suppressed lines that have not been reported.
    package func reportAllHeldBack() { write(repeats.withLock { $0.takeAllHeldBack() }) }

    private func write(_ heldBack: [LogRateLimiter<Kind>.HeldBack]) {
        for lines in heldBack {
            write(lines.kind?.level ?? .warning, lines.kind?.message ?? "lines of other kinds") { json in
                for text in lines.kind?.texts ?? [] {
                    json.name(escaping: text.name)
                    json.value(text.text)
                }
                json.member("suppressed", Int64(lines.count))
            }
        }
    }

    private func write(_ level: Level, _ message: String, _ members: (inout JSONWriter) -> Void) {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("time", Timestamp.text(unixMilliseconds: unixMilliseconds()))
        json.member("level", level.rawValue)
        json.member("message", message)
        members(&json)
        json.endObject()
        sink.write(json.bytes + [UInt8(ascii: "\n")])
    }
}
