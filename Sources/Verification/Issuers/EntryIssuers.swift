private import Bytes
package import IDToken
package import Keys

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
    /// The only domains about whose mail addresses the word of a verified identity's issuer counts; `nil`: all.
    func domains(of identity: Identity?) -> [String]? {
        guard let list = issuers?.list, let identity else { return nil }
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
