import Glibc
import HTTP
import OAuth
import Synchronization

/// Shows the progress of a transfer on standard error: a bar on a terminal, otherwise a line every ten seconds.
final class TransferProgress: Sendable {
    private let total: Int
    private let isTerminal: Bool
    private let startedAt = SystemClocks.monotonic()
    private let state: Mutex<State>

    private struct State {
        var done: Int
        var now = 0
        var refused = 0
        var failed = 0
        var shownAt: MonotonicTime
    }

    private static let barWidth = 30

    /// - Parameter before: the number of users that already have a result from an earlier run.
    init(total: Int, before: Int) {
        self.total = total
        isTerminal = isatty(STDERR_FILENO) == 1
        state = Mutex(State(done: before, shownAt: startedAt))
        if before > 0 { printToStandardError("\(before) of \(total) users already have a result and are skipped") }
    }

    /// Counts a user. Any thread may call this.
    func count(_ outcome: UserMigrationOutcome) {
        state.withLock { state in
            state.done += 1
            state.now += 1
            switch outcome {
            case .done: break
            case .refused: state.refused += 1
            case .failed: state.failed += 1
            }
            let now = SystemClocks.monotonic()
            guard now - state.shownAt >= (isTerminal ? Interval(milliseconds: 100) : .seconds(10)) else { return }
            state.shownAt = now
            show(state, now)
        }
    }

    /// Shows the last state.
    func finish() {
        guard isTerminal, total > 0 else { return }
        state.withLock { show($0, SystemClocks.monotonic()) }
        printToStandardError("")
    }

    /// Leaves the bar as it is, for an error message below it.
    func interrupt() { if isTerminal, state.withLock({ $0.now > 0 }) { printToStandardError("") } }

    private func show(_ state: State, _ now: MonotonicTime) {
        var text = "\(state.done) of \(total) users"
        if state.refused > 0 { text += ", \(state.refused) refused" }
        if state.failed > 0 { text += ", \(state.failed) failed" }
        if let rest = timeLeft(state, now) { text += ", \(rest) left" }
        guard isTerminal else { return printToStandardError(text) }
        let filled = total > 0 ? Self.barWidth * state.done / total : Self.barWidth
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: Self.barWidth - filled)
        let line = Array("\r[\(bar)] \(text)\u{1b}[K".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }

    /// Estimated from the rate so far; `nil` until there is one.
    private func timeLeft(_ state: State, _ now: MonotonicTime) -> String? {
        let elapsed = (now - startedAt).milliseconds
        guard state.done < total, state.now >= 5, elapsed > 2000 else { return nil }
        let seconds = elapsed * Int64(total - state.done) / Int64(state.now) / 1000
        return seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }
}
