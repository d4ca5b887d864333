private import Bytes

/// The issuers of one entry, for which the operator vouches. Immutable, and shared by all event loops.
package final class IssuerList: Sendable, Equatable {
    private let lines: [ExactString: Line]
    /// In the order of the list.
    package let issuers: [String]

    /// What the list says about an issuer.
    package struct Line: Sendable, Equatable {
        /// Where it stands in the list, from 1.
        package let number: Int
        /// The client IDs at this issuer; `nil`: those of the entry.
        package let audiences: [String]?
        /// The domains about whose mail addresses the issuer's word counts.
        package let domains: [String]

        package init(number: Int, audiences: [String]?, domains: [String]) {
            self.number = number
            self.audiences = audiences
            self.domains = domains
        }

        /// Compares what the lines say, wherever they stand.
        package static func == (left: Line, right: Line) -> Bool {
            left.audiences == right.audiences && left.domains == right.domains
        }
    }

    /// An issuer that is listed twice keeps its first line.
    package init(_ lines: [(issuer: String, line: Line)]) {
        issuers = lines.map(\.issuer)
        self.lines = Dictionary(lines.map { (ExactString($0.issuer), $0.line) }) { first, _ in first }
    }

    /// What the list says about an issuer, compared byte for byte; `nil` if it is not listed.
    package subscript(issuer: String) -> Line? { lines[ExactString(issuer)] }

    package var count: Int { lines.count }

    /// Some issuers, evenly chosen in the order of the list.
    package func sample(atMost maximum: Int) -> [String] {
        guard issuers.count > maximum else { return issuers }
        return (0..<maximum).map { issuers[$0 * issuers.count / maximum] }
    }

    /// Whether some line uses the audiences of the entry.
    package var usesEntryAudiences: Bool { lines.values.contains { $0.audiences == nil } }

    /// Whether each line names domains.
    package var namesDomainsEverywhere: Bool { lines.values.allSatisfy { !$0.domains.isEmpty } }

    package static func == (left: IssuerList, right: IssuerList) -> Bool {
        left === right || (left.issuers == right.issuers && left.lines == right.lines)
    }
}

/// Files with a list of issuers: one line each, `issuer audience [audience …] [@domain …]`.
extension IssuerList {
    /// What is wrong with a file. It quotes nothing of it.
    package struct Fault: Error, Sendable, Equatable {
        /// From 1.
        package let line: Int
        package let reason: String
    }

    /// Reads the text of a file.
    ///
    /// - Parameter refusal: why an issuer can't be used; `nil` if it can.
    /// - Throws: ``Fault`` for the first bad line.
    package convenience init(
        reading text: [UInt8], refusing refusal: (String) -> String?
    ) throws(Fault) {
        var lines: [(issuer: String, line: Line)] = []
        var numbers: [ExactString: Int] = [:]
        var (start, number) = (text.startIndex, 0)
        while start < text.endIndex {
            number += 1
            guard let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) else {
                throw Fault(line: number, reason: "it does not end with a newline, so the file may be incomplete")
            }
            var content = text[start..<end]
            if content.last == UInt8(ascii: "\r") { content.removeLast() }
            start = text.index(after: end)
            guard let (issuer, line) = try Self.line(content, number, refusal) else { continue }
            if let other = numbers.updateValue(number, forKey: ExactString(issuer)) {
                throw Fault(
                    line: number, reason: "its issuer is listed in line \(other) already; write all audiences there")
            }
            lines.append((issuer, line))
        }
        self.init(lines)
    }

    /// - Returns: `nil` for a line that says nothing.
    private static func line(
        _ content: ArraySlice<UInt8>, _ number: Int, _ refusal: (String) -> String?
    ) throws(Fault) -> (String, Line)? {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw Fault(line: number, reason: "it is not UTF-8")
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else {
            throw Fault(line: number, reason: "it has a tab or another control character; separate words by spaces")
        }
        let words = text.split(separator: " ").prefix { !$0.hasPrefix("#") }.map(String.init)
        guard let issuer = words.first else { return nil }
        if let reason = refusal(issuer) { throw Fault(line: number, reason: reason) }
        let audiences = words.dropFirst().filter { !$0.hasPrefix("@") }
        let domains = words.dropFirst().filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) }
        guard !audiences.isEmpty else {
            throw Fault(
                line: number,
                reason: "it names no audience; write your client IDs after the issuer, or - for those of the entry")
        }
        guard audiences == ["-"] || !audiences.contains("-") else {
            throw Fault(line: number, reason: "it has - beside other audiences; write - alone, or list all audiences")
        }
        guard domains.allSatisfy(\.isMailDomain) else {
            throw Fault(line: number, reason: "a word with @ is not a domain such as @example.com")
        }
        guard audiences.allSatisfy({ $0.hasScalars(MemberBounds.audience) }) else {
            throw Fault(
                line: number, reason: "an audience is longer than \(MemberBounds.audience.upperBound) characters")
        }
        return (issuer, Line(number: number, audiences: audiences == ["-"] ? nil : audiences, domains: domains))
    }
}

extension String {
    /// Whether the text is a domain that a mail address may have: labels of letters, digits, inner hyphens and non-ASCII
    /// characters.
    package var isMailDomain: Bool {
        hasScalars(1...253)
            && split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                label.utf8.allSatisfy { $0 >= 0x80 || $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
                    && (1...63).contains(label.unicodeScalars.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            }
    }
}
