import IDToken
import JOSE
import TokenDiagnostics

/// The response of `POST /v1/explain` as text for a terminal: the verdict and its likeliest cause, the checks, then the
/// token's contents.
struct ExplanationText {
    private let answer: [String: JSONTree]
    private let unixSeconds: Int64
    private let showsAllValues: Bool
    private let isColoured: Bool

    /// - Parameters:
    ///   - answer: an explanation, or a problem.
    ///   - unixSeconds: the current time.
    ///   - showsAllValues: whether the values in `token` are not masked.
    init(_ answer: [String: JSONTree], unixSeconds: Int64, showsAllValues: Bool, isColoured: Bool) {
        self.answer = answer
        self.unixSeconds = unixSeconds
        self.showsAllValues = showsAllValues
        self.isColoured = isColoured
    }

    var lines: [String] {
        guard answer["checks"]?.array != nil else {
            return [
                [answer["detail"]?.string, answer["code"]?.string.map { "(\($0))" }].compactMap(\.self).joined(
                    separator: " ")
            ]
        }
        return verdict + [""] + checkLines + keyLines + contentLines
    }

    private var checks: [[String: JSONTree]] { (answer["checks"]?.array ?? []).compactMap(\.object) }

    // MARK: Verdict

    private var verdict: [String] {
        let isValid = answer["valid"] == .bool(true)
        let provider = answer["provider"]?.string.map { " (provider \($0))" } ?? ""
        let verdict = isValid ? "valid" : "refused: " + (answer["code"]?.string ?? "")
        var lines = [styled(verdict, isValid ? .green : .red) + provider, answer["summary"]?.string ?? ""]
        if let fix = answer["likely_cause"]?.object?["fix"]?.string { lines.append("Fix: " + fix) }
        return lines
    }

    // MARK: Checks

    private static let indent = String(repeating: " ", count: 14)

    private var checkLines: [String] {
        let made = checks.filter { ["passed", "failed"].contains(Self.state($0)) }
        var lines = made.flatMap(lines(of:))
        lines += folded("not_reached") + folded("not_asked")
        if made.contains(where: { ($0["explanation"]?.string ?? "").hasSuffix(Explanation.unverifiedNote) }) {
            lines += ["", "The signature is not verified: anyone could have written what the claims say."]
        }
        return lines
    }

    private func lines(of check: [String: JSONTree]) -> [String] {
        let state = Self.state(check)
        let name = (check["name"]?.string ?? "").padded(to: 18)
        let first = styled(state.padded(to: 12), Self.style(state)) + "  " + name
        var explanation = check["explanation"]?.string ?? ""
        // Printed once for all checks.
        if explanation.hasSuffix(Explanation.unverifiedNote) {
            explanation.removeLast(Explanation.unverifiedNote.count)
        }
        guard state == "failed" else { return [first + explanation] }
        let code = check["code"]?.string ?? ""
        let details = ["expected", "found", "fix"].compactMap { member in
            check[member]?.string.map { Self.indent + (member + ":").padded(to: 10) + " " + $0 }
        }
        return [first + explanation + " (\(code))"] + details
    }

    /// The checks that were not made, on one line.
    private func folded(_ state: String) -> [String] {
        let names = checks.filter { Self.state($0) == state }.compactMap { $0["name"]?.string }
        guard !names.isEmpty else { return [] }
        // `not_asked` is the name in the API; the text says what it means.
        let words = state == "not_asked" ? "not enabled" : state.replacing("_", with: " ")
        let label = styled(words.padded(to: 12), Self.style(state)) + "  "
        let longest = 10
        return [label + (names.count > longest ? "the other \(names.count) checks" : names.joined(separator: ", "))]
    }

    private static func state(_ check: [String: JSONTree]) -> String { check["state"]?.string ?? "" }

    // MARK: Keys

    private var keyLines: [String] {
        guard let keys = answer["keys"]?.object else { return [] }
        var parts = [keys["state"]?.string ?? ""]
        if let source = keys["source"]?.string { parts.append("from " + source) }
        if let fetchedAt = keys["fetched_at"]?.integer { parts.append("fetched at " + time(fetchedAt)) }
        var lines = ["", "Keys: " + parts.joined(separator: ", ")]
        if let error = keys["last_error"]?.object {
            let phase = error["phase"]?.string ?? ""
            lines.append("  The last fetch failed (\(phase)): \(error["message"]?.string ?? "").")
        }
        return lines
    }

    private func time(_ seconds: Int64) -> String {
        Redaction.time(UnixTime(seconds: seconds), now: UnixTime(seconds: unixSeconds))
    }

    // MARK: Token contents

    private var contentLines: [String] {
        guard let token = answer["token"]?.object else { return [] }
        let claims = members(token["claims"])
        let hasMasked = claims.contains { $0["masked"] == .bool(true) }
        let note = hasMasked && !showsAllValues ? " (values in brackets are masked; --show-values shows them)" : ""
        return ["", "Header"] + lines(of: members(token["header"])) + ["", "Claims" + note] + lines(of: claims)
    }

    private func members(_ value: JSONTree?) -> [[String: JSONTree]] { (value?.array ?? []).compactMap(\.object) }

    private func lines(of members: [[String: JSONTree]]) -> [String] {
        let width = min(members.map { ($0["name"]?.string ?? "").count }.max() ?? 0, 30)
        return members.map { member in
            let value = member["value"]?.string ?? ""
            let isMasked = member["masked"] == .bool(true)
            return "  " + (member["name"]?.string ?? "").padded(to: width) + "  "
                + (isMasked ? styled("[\(value)]", .faint) : value)
        }
    }

    // MARK: Colour

    /// Parameters of SGR (ECMA-48).
    private enum Style: String {
        case green = "32"
        case red = "1;31"
        case yellow = "33"
        case faint = "2"
    }

    private static func style(_ state: String) -> Style {
        switch state {
        case "passed": .green
        case "failed": .red
        case "not_reached": .yellow
        default: .faint
        }
    }

    private func styled(_ text: String, _ style: Style) -> String {
        isColoured ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }
}
