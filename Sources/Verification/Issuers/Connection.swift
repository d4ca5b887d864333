private import Bytes
package import IDToken
package import JOSE

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
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func requireNone(_ names: [JSONName]) throws(Problem) {
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
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
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
