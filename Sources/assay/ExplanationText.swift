import JSON

/// The answer of `POST /v1/explain`, as people read it in a terminal.
struct ExplanationText {
    private let answer: [String: JSONTree]
    private let isColoured: Bool

    /// - Parameter answer: an explanation, or a problem.
    init(_ answer: [String: JSONTree], isColoured: Bool) {
        self.answer = answer
        self.isColoured = isColoured
    }

    var lines: [String] {
        guard let checks = answer["checks"]?.array else {
            return [
                [answer["detail"]?.string, answer["code"]?.string.map { "(\($0))" }].compactMap(\.self).joined(
                    separator: " ")
            ]
        }
        let isValid = answer["valid"] == .bool(true)
        let provider = answer["provider"]?.string.map { " (provider \($0))" } ?? ""
        return checks.compactMap(\.object).flatMap(lines(of:)) + [
            "",
            styled(isValid ? "valid" : "refused: " + (answer["code"]?.string ?? ""), isValid ? .green : .red)
                + provider,
            answer["summary"]?.string ?? "",
        ]
    }

    private static let indent = String(repeating: " ", count: 14)

    private func lines(of check: [String: JSONTree]) -> [String] {
        let state = check["state"]?.string ?? ""
        let isFailed = state == "failed"
        let name = (check["name"]?.string ?? "").padded(to: 18)
        let first = styled(state.replacing("_", with: " ").padded(to: 12), Self.style(state)) + "  " + name
        guard isFailed else { return [first + (check["explanation"]?.string ?? "")] }
        let code = check["code"]?.string ?? ""
        let details = ["expected", "found", "fix"].compactMap { member in
            check[member]?.string.map { Self.indent + (member + ":").padded(to: 10) + " " + $0 }
        }
        return [first + (check["explanation"]?.string ?? "") + " (\(code))"] + details
    }

    // MARK: Colour

    /// Parameters of ECMA-48's SGR.
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
