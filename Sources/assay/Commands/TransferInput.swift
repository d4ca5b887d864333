import FoundationEssentials
import Glibc

/// The users of a transfer, one per line.
enum TransferInput {
    private static let maximumLength = 255

    /// Reads all lines, without blank ones and repetitions.
    ///
    /// - Parameter path: `nil` for standard input.
    /// - Throws: ``ConfigurationError`` that names the first invalid line.
    static func read(_ path: String?, of step: TransferStep) throws(ConfigurationError) -> [String] {
        var users: [String] = []
        var known: Set<String> = []
        for (index, line) in try lines(path, step).enumerated() {
            let user = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            guard !user.isEmpty, known.insert(user).inserted else { continue }
            if let fault = fault(user, step) {
                throw ConfigurationError(text: "\(path ?? "standard input"): line \(index + 1): \(fault)")
            }
            users.append(user)
        }
        guard !users.isEmpty else {
            throw ConfigurationError(
                text: "\(path ?? "standard input"): it has no \(step.noun); one per line is expected")
        }
        return users
    }

    private static func lines(_ path: String?, _ step: TransferStep) throws(ConfigurationError) -> [Substring] {
        guard let path else {
            if isatty(STDIN_FILENO) == 1 {
                printToStandardError("Type one \(step.noun) per line, and end with Ctrl-D; or use --input.")
            }
            var lines: [Substring] = []
            while let line = readLine() { lines.append(line[...]) }
            return lines
        }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(text: "\(path): it can't be read")
        }
        return String(decoding: contents, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// Why a line can't be a subject or transfer identifier; `nil` if it may be one. Invalid lines are never sent.
    private static func fault(_ user: String, _ step: TransferStep) -> String? {
        if user.hasPrefix("{") {
            let member = step == .redeem ? "transfer_subject" : "subject"
            return
                "it is JSON, but one \(step.noun) per line is expected; extract them with jq -r '.\(member) // empty'"
        }
        let isValid =
            user.utf8.count <= maximumLength
            && user.utf8.allSatisfy { octet in
                (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
                    || octet == 0x2d || octet == 0x2e || octet == 0x5f
            }
        return isValid
            ? nil
            : "one \(step.noun) per line is expected, such as 001234.5e7f01b2c3d4.0219: letters, digits, and . - _"
    }
}
