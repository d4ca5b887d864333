private import Bytes
package import IDToken
package import JOSE

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

/// A connection of an open entry: what the backend's database says about one customer's provider.
///
/// Every request for such an entry names it. Nothing of it is taken from the token.
// A class, because most requests have none: a question to an optional reference is cheap.
package final class Connection: Sendable, Equatable {
    /// The backend's own ID of the connection.
    package let id: String
    package let issuer: String
    /// The client ID at this issuer.
    package let audience: String
    /// Values that claims of this connection's tokens must have, in addition to the entry's rules.
    package let claimRules: [ClaimRule]
    /// The domains about whose mail addresses the issuer's word counts.
    package let emailDomains: [String]

    package init(
        id: String, issuer: String, audience: String, claimRules: [ClaimRule] = [], emailDomains: [String] = []
    ) {
        self.id = id
        self.issuer = issuer
        self.audience = audience
        self.claimRules = claimRules
        self.emailDomains = emailDomains
    }

    package static func == (left: Connection, right: Connection) -> Bool {
        left.id == right.id && left.issuer == right.issuer && left.audience == right.audience
            && left.claimRules == right.claimRules && left.emailDomains == right.emailDomains
    }

    /// Reads the members `connection`, `issuer`, `audience`, `claim_values` and `email_domains` of a request.
    ///
    /// - Parameter others: the other members that the request may have.
    /// - Returns: `nil` if the request names no connection.
    /// - Throws: ``Problem/requestInvalid(_:)``, also for an unknown member.
    package convenience init?(of object: JSONObject, beside others: [JSONName]) throws(Problem) {
        // Most requests name none, and pay for one comparison of names.
        if object.hasOnly(others) { return nil }
        try object.requireOnly(others + MemberNames.ofConnection, in: "request")
        guard let id = try object.checkedString(MemberNames.connection, characters: MemberBounds.connection) else {
            try object.requireNone([MemberNames.claimValues, MemberNames.emailDomains])
            return nil
        }
        guard id != ".", id != ".." else {
            throw .requestInvalid(
                "connection must not be one dot or two, because no path can hold them.")
        }
        guard let provider = object[MemberNames.provider], provider.kind != .null else { throw .connectionNotOpen }
        guard let issuer = try object.checkedString(MemberNames.issuer, characters: MemberBounds.connectionIssuer),
            let audience = try object.checkedString(MemberNames.audience, characters: MemberBounds.audience)
        else { throw .connectionIncomplete }
        self.init(
            id: id, issuer: issuer, audience: audience, claimRules: try object.claimValues(),
            emailDomains: try object.emailDomains())
    }
}

extension Problem {
    /// A request for an open entry that does not name its connection completely.
    package static let connectionIncomplete = Problem.requestInvalid(
        "This provider has issuers: any, so the request needs connection, issuer and audience, as your database has them; send all three."
    )

    /// A request that names a connection of an entry whose issuers the settings have.
    package static let connectionNotOpen = Problem.requestInvalid(
        "connection is only valid with a provider that has issuers: any, named by provider; correct provider, or omit connection."
    )
}

extension MemberNames {
    package static let connection: JSONName = "connection"
    package static let claimValues: JSONName = "claim_values"
    package static let emailDomains: JSONName = "email_domains"
    /// The members that only requests for open entries have. `issuer` and `audience` are members of others too.
    package static let ofConnection = [connection, claimValues, emailDomains]
}

extension MemberBounds {
    package static var connection: ClosedRange<Int> { 1...255 }
    static var connectionIssuer: ClosedRange<Int> { 1...255 }
    fileprivate static var claims: Int { 32 }
    fileprivate static var claimName: ClosedRange<Int> { 1...255 }
    fileprivate static var values: ClosedRange<Int> { 1...100 }
    fileprivate static var value: ClosedRange<Int> { 1...1024 }
    fileprivate static var domains: Int { 100 }
}

extension JSONObject {
    /// Rejects members that only belong to a connection, in a request that names none.
    func requireNone(_ names: [JSONName]) throws(Problem) {
        for name in names where self[name] != nil {
            throw .requestInvalid(
                "\(name.string) is only valid together with connection, for a provider with issuers: any.")
        }
    }

    /// The rules of `claim_values`: an object that maps a claim to a value or to a list of values.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``, also if it is `null`.
    fileprivate func claimValues() throws(Problem) -> [ClaimRule] {
        guard let value = self[MemberNames.claimValues] else { return [] }
        let problem = Problem.requestInvalid(
            "claim_values must be an object such as {\"hd\": [\"example.com\"]}: at most \(MemberBounds.claims) claims, each with 1 to \(MemberBounds.values.upperBound) values, which are strings, booleans or integers."
        )
        guard let members = value.object, members.count <= MemberBounds.claims else { throw problem }
        var claims: [(name: String, value: JSONValue)] = []
        members.forEachMember { claims.append(($0, $1)) }
        var rules: [ClaimRule] = []
        for (name, value) in claims {
            let texts = (value.elements ?? [value]).map(\.claimText)
            let values = texts.compactMap(\.self)
            guard name.hasScalars(MemberBounds.claimName), MemberBounds.values.contains(texts.count),
                values.count == texts.count, values.allSatisfy({ $0.hasScalars(MemberBounds.value) })
            else { throw problem }
            rules.append(ClaimRule(ClaimPath(name), .oneOf, values))
        }
        return rules
    }

    /// The domains of `email_domains`.
    fileprivate func emailDomains() throws(Problem) -> [String] {
        guard let value = self[MemberNames.emailDomains], value.kind != .null else { return [] }
        let domains = value.elements?.map { $0.string ?? "" }
        guard let domains, domains.count <= MemberBounds.domains, domains.allSatisfy(\.isMailDomain) else {
            throw .requestInvalid(
                "email_domains must be a list of at most \(MemberBounds.domains) domains such as example.com.")
        }
        return domains
    }
}

extension JSONValue {
    /// The text with which a claim's value is compared; `nil` for anything but a string, a boolean or an integer.
    fileprivate var claimText: String? {
        if let bool { return "\(bool)" }
        return string ?? integer.map { "\($0)" }
    }
}
