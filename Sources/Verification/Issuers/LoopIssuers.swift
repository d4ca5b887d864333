private import Bytes
internal import HTTP
package import IDToken
package import Keys
internal import NIOCore

/// One event loop's copies of the keys of an entry's issuers: of those that its requests have asked for. Confined to
/// that loop.
///
/// It is separate from the settings, because the keys survive a change of the settings.
package final class LoopIssuers {
    let pool: IssuerPool
    /// `nil` until the pool knows the loop.
    private(set) var reader: IssuerPool.ReaderID?
    private var issuers: [ExactString: LoopIssuer] = [:]

    init(_ pool: IssuerPool) { self.pool = pool }

    /// Makes the pool deliver keys to the loops.
    ///
    /// - Throws: an event loop error.
    static func connect(_ all: PerLoop<LoopIssuers>, on loops: [any EventLoop], to pool: IssuerPool) async throws {
        for loop in loops {
            let bound = try await loop.submit { NIOLoopBound(all[loop], eventLoop: loop) }.get()
            let reader = try await pool.add { issuer, delivery in
                loop.submit { bound.value.install(delivery, of: issuer) }
            }.get()
            try await loop.submit { bound.value.reader = reader }.get()
        }
    }

    private func install(_ delivery: IssuerPool.Delivery?, of issuer: String) {
        guard let delivery else {
            issuers[ExactString(issuer)] = nil
            return
        }
        let known = self[issuer] ?? LoopIssuer()
        known.delivered.install(delivery.snapshot, sharesKeys: true)
        known.use = delivery.use
        issuers[ExactString(issuer)] = known
    }

    /// The issuer, if the loop has asked for its keys and they have arrived.
    subscript(issuer: String) -> LoopIssuer? { issuers[ExactString(issuer)] }
}

/// An issuer whose keys an event loop has. Confined to that loop.
final class LoopIssuer {
    let delivered = LoopKeySnapshot()
    fileprivate(set) var use: IssuerUse?
    /// What the last request's slot was made from, and that slot: the next request is probably like it.
    var latest: (origin: IssuerSlotOrigin, slot: RequestVerifier.ProviderSlot)?
}

/// What determines the slot of an issuer.
struct IssuerSlotOrigin {
    /// The entry's slot, which is another object after each change of the settings.
    let entry: RequestVerifier.ProviderSlot
    /// What the request says, for an open entry.
    let connection: Connection?

    /// Whether both lead to the same slot. The connection's own ID does not matter.
    func isSame(as other: IssuerSlotOrigin) -> Bool {
        entry === other.entry && connection?.audience == other.connection?.audience
            && connection?.claimRules == other.connection?.claimRules
            && connection?.emailDomains == other.connection?.emailDomains
    }
}

extension RequestVerifier.ProviderSlot {
    /// The slot that verifies a token: this one; or, if the entry has many issuers, one with the policy and the keys of
    /// the token's issuer or of the request's connection.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``, and ``Problem/rejected(_:of:)`` for a token of an issuer that is not
    ///   listed.
    @inline(__always)
    func slot(
        for token: UnverifiedToken, _ connection: Connection?, of kind: Problem.TokenKind
    ) throws(Problem) -> RequestVerifier.ProviderSlot {
        if issuers == nil, connection == nil { return self }
        return try issuerSlot(for: token, connection, of: kind)
    }

    @inline(never)
    private func issuerSlot(
        for token: UnverifiedToken, _ connection: Connection?, of kind: Problem.TokenKind
    ) throws(Problem) -> RequestVerifier.ProviderSlot {
        guard let issuers, let entryIssuers = provider.issuers else { throw .connectionNotOpen }
        switch entryIssuers {
        case .listed(let list):
            guard connection == nil else { throw .connectionNotOpen }
            guard let issuer = token.unverifiedIssuer else { throw .rejected(.claimMissing(.issuer), of: kind) }
            guard let line = list[issuer] else { throw .rejected(.issuerMismatch, of: kind) }
            return slot(of: issuer, issuers, connection: nil) { policy in
                policy.adopt(issuer, line, keepingAudiences: hasAudiencesOfResource)
            }
        case .any(let rules):
            guard let connection else { throw .connectionIncomplete }
            return try slot(of: connection, issuers, rules)
        }
    }

    /// The slot of a request's connection; this one if there is none, and none is needed.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``, also if the connection's issuer can't be used.
    func slot(ofConnection connection: Connection?) throws(Problem) -> RequestVerifier.ProviderSlot {
        switch (provider.issuers, issuers, connection) {
        case (.any(let rules)?, let issuers?, let connection?): return try slot(of: connection, issuers, rules)
        case (.any?, _, nil): throw .connectionIncomplete
        case (_, _, nil): return self
        case (_, _, _?): throw .connectionNotOpen
        }
    }

    private func slot(
        of connection: Connection, _ issuers: LoopIssuers, _ rules: OpenIssuerRules
    ) throws(Problem) -> RequestVerifier.ProviderSlot {
        // An issuer whose keys are here has passed.
        if issuers[connection.issuer] == nil, let refusal = rules.refusal(of: connection.issuer) {
            throw .requestInvalid("\(refusal.prefix(1).uppercased() + refusal.dropFirst()); correct the connection.")
        }
        guard !connection.claimRules.isEmpty || !rules.isShared(connection.issuer) else { throw .issuerShared }
        return slot(of: connection.issuer, issuers, connection: connection) { $0.adopt(connection) }
    }

    /// The slot of one issuer, from the last request's if that was the same.
    private func slot(
        of issuer: String, _ issuers: LoopIssuers, connection: Connection?, adjust: (inout ProviderPolicy) -> Void
    ) -> RequestVerifier.ProviderSlot {
        let origin = IssuerSlotOrigin(entry: self, connection: connection)
        let known = issuers[issuer]
        if let latest = known?.latest, latest.origin.isSame(as: origin) { return latest.slot }
        var policy = policy
        adjust(&policy)
        let slot = RequestVerifier.ProviderSlot(
            provider, policy, known?.delivered ?? LoopKeySnapshot(),
            .pool(issuers.pool, issuer: issuer, reader: issuers.reader), use: known?.use)
        known?.latest = (origin, slot)
        return slot
    }
}

extension ProviderPolicy {
    /// Makes the policy of an entry that of one issuer of its list.
    ///
    /// - Parameter keepsAudiences: whether the line's audiences don't count.
    fileprivate mutating func adopt(_ issuer: String, _ line: IssuerList.Line, keepingAudiences keepsAudiences: Bool) {
        self.issuer = issuer
        if let audiences = line.audiences, !keepsAudiences {
            self.audiences = audiences
            origin = .line
        }
        email.trustedDomains = line.domains
    }

    /// Makes the policy of an open entry that of a connection.
    fileprivate mutating func adopt(_ connection: Connection) {
        origin = .connection
        issuer = connection.issuer
        audiences = [connection.audience]
        claimRules += connection.claimRules
        email.trustedDomains = connection.emailDomains
    }
}

extension Problem {
    /// A connection to an issuer whose tokens can be anyone's, or another entry's.
    static let issuerShared = Problem.requestInvalid(
        "Tokens of this issuer are not one customer's: it is another provider's of the settings, or one that everybody can use; send claim_values that only this connection's users have, such as {\"hd\": [\"example.com\"]}."
    )
}

/// The issuers of an entry that has more than one.
package enum EntryIssuers: Sendable, Equatable {
    /// Those of a list, for which the operator vouches.
    case listed(IssuerList)
    /// Any that a request names.
    case any(OpenIssuerRules)

    /// `nil` if there is no list.
    package var list: IssuerList? { if case .listed(let list) = self { list } else { nil } }
    package var isOpen: Bool { if case .any = self { true } else { false } }
}

extension Provider {
    /// The only domains about whose mail addresses the word of a verified token's issuer counts; `nil`: all.
    func domains(ofIssuerOf token: GatewayToken) -> [String]? {
        guard let list = issuers?.list, let identity = token.identity else { return nil }
        return list[identity.issuer]?.domains ?? []
    }
}

/// Which issuers a request may name for an open entry.
///
/// A class, because each request would copy a struct of this size.
package final class OpenIssuerRules: Sendable, Equatable {
    private let network: NetworkRules
    /// Issuers and aliases that other entries or presets have.
    private let known: Set<ExactString>
    /// Issuers with a tenant in place of a claim.
    private let templates: [IssuerTemplate]

    /// - Parameters:
    ///   - network: the entry's rules.
    ///   - others: the policies of the other entries.
    ///   - listed: the issuers of other entries' lists.
    package init(network: NetworkRules, others: [ProviderPolicy], listed: [IssuerList]) {
        self.network = network
        var known: Set<ExactString> = []
        var templates: [IssuerTemplate] = []
        for policy in others + ProviderPreset.allPolicies {
            for issuer in [policy.issuer] + policy.issuerAliases {
                if let template = IssuerTemplate(issuer) {
                    if !templates.contains(template) { templates.append(template) }
                } else if !issuer.isEmpty {
                    known.insert(ExactString(issuer))
                }
            }
        }
        for list in listed { known.formUnion(list.issuers.map(ExactString.init)) }
        self.known = known
        self.templates = templates
    }

    /// Other entries, which are compared themselves, make no difference.
    package static func == (left: OpenIssuerRules, right: OpenIssuerRules) -> Bool { left.network == right.network }

    /// Why an issuer can't be used; `nil` if it can.
    package func refusal(of issuer: String) -> String? { network.refusal(ofIssuer: issuer) }

    /// Whether tokens of this issuer can be anyone's, or another entry's, so that a connection must say which it
    /// accepts.
    package func isShared(_ issuer: String) -> Bool {
        if known.contains(ExactString(issuer)) { return true }
        let octets = Array(issuer.utf8)[...]
        return templates.contains { $0.tenant(in: octets) != nil }
    }
}

extension NetworkRules {
    /// Why an issuer of a list or a request can't be used; `nil` if it can.
    package func refusal(ofIssuer issuer: String) -> String? {
        guard issuer.hasScalars(MemberBounds.connectionIssuer) else {
            return "the issuer is longer than \(MemberBounds.connectionIssuer.upperBound) characters"
        }
        guard !issuer.contains("{"), !issuer.contains("}") else {
            return "the issuer has braces; write the issuer of one tenant"
        }
        guard !issuer.contains("?"), !issuer.contains("#") else {
            return "the issuer has a query or a fragment (? or #), so it has no discovery document"
        }
        do throws(FetchFailure) {
            _ = try url(ProviderMetadata.address(forIssuer: issuer))
            return nil
        } catch {
            return "the issuer is not a URL that keys can be fetched from: \(error.message)"
        }
    }
}
