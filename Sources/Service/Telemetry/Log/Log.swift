private import Glibc
package import HTTP
private import JOSE
private import NIOPosix
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

/// Decides which of many lines of one kind are written: the first few in each window. It counts the others.
///
/// Receives the time as an argument. Its memory is bounded: kinds for which there is no room share one window.
package struct LogRateLimiter<Kind: Hashable & Sendable>: Sendable {
    private let rules: LogRateLimits
    private var windows: [Kind: Window] = [:]
    private var overflow: Window?
    /// When the first of the windows ends.
    private var nextEnd: MonotonicTime?

    /// A window in which lines of a kind occurred.
    private struct Window: Sendable {
        let end: MonotonicTime
        var written = 0
        var heldBack = 0

        mutating func admits(atMost burst: Int) -> Bool {
            guard written < burst else {
                heldBack += 1
                return false
            }
            written += 1
            return true
        }
    }

    /// Suppressed lines of a kind.
    package struct HeldBack {
        /// `nil` for all kinds for which there was no room.
        package let kind: Kind?
        package let count: Int
    }

    package init(_ rules: LogRateLimits = LogRateLimits()) { self.rules = rules }

    /// Whether to write another line of a kind. A window lasts until ``takeHeldBack(now:)`` ends it.
    mutating func admits(_ kind: Kind, now: MonotonicTime) -> Bool {
        let new = Window(end: now + rules.interval)
        if windows[kind] == nil, windows.count >= rules.kinds {
            if overflow == nil { begin(new) }
            var window = overflow ?? new
            defer { overflow = window }
            return window.admits(atMost: rules.burst)
        }
        if windows[kind] == nil { begin(new) }
        return windows[kind, default: new].admits(atMost: rules.burst)
    }

    /// Removes the windows that have ended, and returns what they suppressed.
    mutating func takeHeldBack(now: MonotonicTime) -> [HeldBack] {
        guard let nextEnd, now >= nextEnd else { return [] }
        return takeHeldBack { $0.end <= now }
    }

    /// Removes all windows, and returns what they suppressed.
    mutating func takeAllHeldBack() -> [HeldBack] { takeHeldBack { _ in true } }

    private mutating func takeHeldBack(where hasEnded: (Window) -> Bool) -> [HeldBack] {
        var found: [HeldBack] = []
        for (kind, window) in windows where hasEnded(window) {
            windows[kind] = nil
            if window.heldBack > 0 { found.append(HeldBack(kind: kind, count: window.heldBack)) }
        }
        if let window = overflow, hasEnded(window) {
            overflow = nil
            if window.heldBack > 0 { found.append(HeldBack(kind: nil, count: window.heldBack)) }
        }
        nextEnd = (windows.values.map(\.end) + [overflow?.end].compactMap(\.self)).min()
        return found
    }

    private mutating func begin(_ window: Window) { nextEnd = min(nextEnd ?? window.end, window.end) }
}

/// The parameters of a ``LogRateLimiter``.
package struct LogRateLimits: Sendable {
    /// The number of lines of a kind that are written per ``interval``.
    package var burst = 10
    package var interval = Interval.seconds(60)
    /// The number of kinds that are distinguished per ``interval``: several for each of hundreds of providers.
    package var kinds = 4096

    package init() {}
}

/// Accepts log lines from any thread, and writes them to standard error from its own thread, so that a slow reader of
/// the log never delays a request.
///
/// Lines that don't fit into a bounded buffer are dropped and counted.
package final class LogSink: Sendable {
    private struct Pending {
        var bytes: [UInt8] = []
        var isWriting = false
        var droppedBytes = 0
    }

    private let pending = Mutex(Pending())
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private static let maximumPending = 4 * 1024 * 1024

    private let isDiscarding: Bool

    /// - Parameter isDiscarding: whether to write nothing, for a command with its own output.
    package init(isDiscarding: Bool = false) {
        self.isDiscarding = isDiscarding
        thread.start()
    }

    /// Queues complete lines, each with its line feed.
    package func write(_ lines: [UInt8]) {
        if isDiscarding { return }
        let mustStart = pending.withLock { pending in
            guard pending.bytes.count + lines.count <= Self.maximumPending else {
                pending.droppedBytes += lines.count
                return false
            }
            pending.bytes += lines
            guard !pending.isWriting else { return false }
            pending.isWriting = true
            return true
        }
        if mustStart { thread.submit { _ in self.drain() } }
    }

    /// The bytes of log lines dropped since the start.
    package var droppedBytes: Int { pending.withLock { $0.droppedBytes } }

    /// Waits until everything queued has been written, then stops.
    package func close() async {
        // The pool has no other work and does not fail.
        try? await thread.runIfActive { self.drain() }
        try? await thread.shutdownGracefully()
    }

    private func drain() {
        while true {
            let bytes = pending.withLock { pending -> [UInt8] in
                defer { pending.bytes.removeAll(keepingCapacity: false) }
                if pending.bytes.isEmpty { pending.isWriting = false }
                return pending.bytes
            }
            if bytes.isEmpty { return }
            Self.writeToStandardError(bytes)
        }
    }

    private static func writeToStandardError(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let written = unsafe Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if written > 0 {
                    unsafe rest = rest.dropFirst(written)
                } else if errno != EINTR {
                    // The reader of the log is gone.
                    return
                }
            }
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var baseAddress: UnsafeRawPointer? { unsafe UnsafeRawBufferPointer(rebasing: self).baseAddress }
}
