import FoundationEssentials
import Glibc
import HTTP
import JOSE
import OAuth
import Synchronization

/// The file with the results of a transfer: one JSON object per line, appended as results arrive, so that a run can
/// stop at any time. A later line about a user replaces an earlier one.
final class TransferResults: Sendable {
    private let path: String
    private let step: TransferStep
    private let file: CInt
    private let statuses: Mutex<[String: Status]>

    enum Status: Sendable {
        case done
        /// Apple refused the user, with this error.
        case refused(error: String)
        /// No result yet, or an error after which another run tries again.
        case pending(error: String?)

        var isRefused: Bool { if case .refused = self { true } else { false } }
        var isPending: Bool { if case .pending = self { true } else { false } }

        /// Human-readable: why there is no final result; `nil` if the user is done.
        var text: String? {
            switch self {
            case .done: nil
            case .refused(let error): "refused (\(error))"
            case .pending(let error): error.map { "failed (\($0))" } ?? "no result"
            }
        }

        init(_ outcome: UserMigrationOutcome) {
            self =
                switch outcome {
                case .done: .done
                case .refused(let error): .refused(error: error.rawValue)
                case .failed(let failure): .pending(error: CallOutcome(failure).rawValue)
                }
        }
    }

    /// Opens the file, and reads the results of earlier runs.
    ///
    /// - Throws: ``ConfigurationError`` if it can't be written, another run is writing it, or it contains something
    ///   else.
    init(path: String, _ step: TransferStep) throws(ConfigurationError) {
        self.path = path
        self.step = step
        file = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
        statuses = Mutex([:])
        guard file >= 0 else {
            throw Self.fault(path, "it can't be written: \(unsafe String(cString: strerror(errno)))")
        }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Self.fault(
                path, "it is not a regular file, so an interrupted run could not continue; name a regular file")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw Self.fault(path, "another run is writing it; wait for it to end, or name another file")
        }
        try readEarlier()
    }

    deinit { if file >= 0 { close(file) } }

    private static func fault(_ path: String, _ text: String) -> ConfigurationError {
        ConfigurationError("\(path): \(text)")
    }

    private func readEarlier() throws(ConfigurationError) {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw Self.fault(path, "it can't be read")
        }
        // The incomplete last line of an interrupted run.
        let end = contents.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lines = contents[..<end].split(separator: UInt8(ascii: "\n"))
        var found: [String: Status] = [:]
        for (index, line) in lines.enumerated() {
            guard let (user, status) = result(Array(line)) else {
                throw Self.fault(
                    path, "line \(index + 1) is not a result of this command for these teams; name another file")
            }
            found[user] = status
        }
        guard end == contents.count || ftruncate(file, end) == 0 else {
            throw Self.fault(path, "its last line is incomplete, and can't be removed")
        }
        statuses.withLock { $0 = found }
    }

    /// Reads a line; `nil` if it belongs to another step, another recipient or another program.
    private func result(_ line: [UInt8]) -> (user: String, Status)? {
        guard let object = try? JSONObject(line), let outcome = object["outcome"]?.string else { return nil }
        let recipient = object["recipient_team_id"]?.string
        let user: String?
        switch step {
        case .generate(let team): user = recipient == team ? object["subject"]?.string : nil
        case .redeem: user = recipient == nil ? object["transfer_subject"]?.string : nil
        }
        guard let user else { return nil }
        let error = object["error"]?.string
        switch outcome {
        case "done": return (user, .done)
        case "refused": return (user, .refused(error: error.map(OAuthErrorName.init(naming:))?.rawValue ?? "other"))
        case "failed": return (user, .pending(error: error.flatMap(CallOutcome.init(rawValue:))?.rawValue))
        default: return nil
        }
    }

    func status(of user: String) -> Status { statuses.withLock { $0[user] ?? .pending(error: nil) } }

    /// Whether a request for a user is still needed.
    func isPending(_ user: String, retryingRefused: Bool) -> Bool {
        let status = status(of: user)
        return status.isPending || retryingRefused && status.isRefused
    }

    /// Any thread may call this.
    ///
    /// - Throws: ``ConfigurationError`` if it can't be written.
    func append(_ request: UserMigrationRequest, _ outcome: UserMigrationOutcome) throws {
        var json = JSONWriter()
        json.object { json in
            switch request {
            case .generate(let subject, let team):
                json.member("subject", subject)
                json.member("recipient_team_id", team)
            case .redeem(let transferSubject): json.member("transfer_subject", transferSubject)
            }
            outcome.writeMembers(to: &json)
        }
        let line = json.bytes + [UInt8(ascii: "\n")]
        try statuses.withLock { statuses in
            guard unsafe write(file, line, line.count) == line.count else {
                throw Self.fault(path, "it can't be written: \(unsafe String(cString: strerror(errno)))")
            }
            statuses[request.user] = Status(outcome)
        }
    }
}

extension UserMigrationOutcome {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        switch self {
        case .done(.transferSubject(let transferSubject)):
            json.member("outcome", "done")
            json.member("transfer_subject", transferSubject)
        case .done(.user(let subject, let email, let isPrivateEmail)):
            json.member("outcome", "done")
            json.member("subject", subject)
            json.member("email", email)
            json.member("is_private_email", isPrivateEmail)
        case .refused(let error):
            json.member("outcome", "refused")
            json.member("error", error.rawValue)
        case .failed(let failure):
            json.member("outcome", "failed")
            json.member("error", CallOutcome(failure).rawValue)
        }
    }
}

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
