private import Bytes
internal import IDToken
private import Verification

/// Finds providers that can't stand beside others: IDs must differ and, for each kind of token, issuers too, so that
/// every token belongs to one.
///
/// Each provider is compared only with those that it could conflict with, because there may be thousands.
struct ProviderConflicts {
    private var providers: [ProviderSettings] = []
    private var byID: [String: Int] = [:]
    /// By the part of environment variables that stands for the ID.
    private var byVariable: [String: Int] = [:]
    private var byIssuer: [ExactString: [Int]] = [:]
    /// The providers whose issuers can't be listed, because any tenant is accepted.
    private var ofAnyTenant: [Int] = []

    /// Adds a provider, unless it has a conflict.
    ///
    /// - Parameter isFaulty: whether an error was reported for the provider of this ID. Its issuer is then not known.
    /// - Returns: the first conflict with an earlier provider.
    mutating func add(_ provider: ProviderSettings, isFaulty: (String) -> Bool) -> String? {
        let conflict = conflict(of: provider, isFaulty)
        let number = providers.count
        providers.append(provider)
        byID[provider.policy.id] = byID[provider.policy.id] ?? number
        let variable = EnvironmentVariables.part(provider.policy.id)
        byVariable[variable] = byVariable[variable] ?? number
        if provider.issuers?.isOpen == true { return conflict }
        guard let issuers = provider.allIssuers else {
            ofAnyTenant.append(number)
            return conflict
        }
        for issuer in issuers { byIssuer[ExactString(issuer), default: []].append(number) }
        return conflict
    }

    private func conflict(of provider: ProviderSettings, _ isFaulty: (String) -> Bool) -> String? {
        let id = provider.policy.id
        if byID[id] != nil { return "duplicate provider id \(id); rename one" }
        if let other = byVariable[EnvironmentVariables.part(id)] {
            return
                "provider ids \(id) and \(providers[other].policy.id) map to the same environment variables; rename one"
        }
        guard provider.issuers?.isOpen != true, !isFaulty(id) else { return nil }
        for (number, issuer) in rivals(of: provider) where !isFaulty(providers[number].policy.id) {
            if let conflict = issuerConflict(provider, providers[number], issuer) { return conflict }
        }
        return nil
    }

    /// The earlier providers that have an issuer of this one, and that issuer if it can be named.
    private func rivals(of provider: ProviderSettings) -> [(number: Int, issuer: String?)] {
        guard let issuers = provider.allIssuers else {
            return providers.indices.filter { provider.sharesIssuer(with: providers[$0]) }.map { ($0, nil) }
        }
        var rivals: [(number: Int, issuer: String?)] = []
        for issuer in issuers {
            for number in byIssuer[ExactString(issuer)] ?? [] { rivals.append((number, issuer)) }
            for number in ofAnyTenant where providers[number].policy.isIssuer(issuer) {
                rivals.append((number, issuer))
            }
        }
        return rivals.sorted { $0.number < $1.number }
    }

    private func issuerConflict(
        _ provider: ProviderSettings, _ other: ProviderSettings, _ issuer: String?
    ) -> String? {
        let dialect = other.accessTokens
        // If the provider's access tokens are also ID Tokens, each token would be accepted as both kinds.
        let isOtherKind = (dialect == nil) != (provider.accessTokens == nil)
        // The issuer of a load balancer's assertions is an identity provider, which may have an entry of its own.
        // Opaque tokens name no issuer, and JWTs of an issuer with both kinds go to the entry that verifies them.
        let mayShareIssuer =
            (provider.introspection == nil) != (other.introspection == nil)
            || (isOtherKind
                ? (dialect ?? provider.accessTokens)?.isAlsoIDToken == false
                : dialect?.loadBalancer != provider.accessTokens?.loadBalancer)
        guard !mayShareIssuer else { return nil }
        let (id, otherID) = (provider.policy.id, other.policy.id)
        if isOtherKind {
            return
                "providers \(otherID) and \(id) have the same issuer, whose tokens are both ID Tokens and access tokens; keep one of them"
        }
        if dialect?.loadBalancer != nil {
            return
                "providers \(otherID) and \(id) have the same signer and issuer; list all clients in authorized_parties of one of them"
        }
        return
            "providers \(otherID) and \(id) have the same issuer or alias\(place(of: issuer, provider, other)); list all audiences under one of them"
    }

    /// Where an issuer stands in a list; its text is not shown.
    private func place(of issuer: String?, _ provider: ProviderSettings, _ other: ProviderSettings) -> String {
        let places = [other, provider].compactMap { entry in
            issuer.flatMap { entry.issuers?.list?[$0] }.map { line in
                entry.issuersFile == nil
                    ? "number \(line.number) of \(entry.policy.id)"
                    : "line \(line.number) of the file of \(entry.policy.id)"
            }
        }
        return places.isEmpty ? "" : " (\(places.joined(separator: ", ")))"
    }
}

extension ProviderSettings {
    /// Every accepted value of `iss`; `nil` if they can't be listed.
    fileprivate var allIssuers: [String]? { issuers?.list?.issuers ?? policy.allIssuers }

    private func hasIssuer(_ issuer: String) -> Bool {
        issuers?.list.map { $0[issuer] != nil } ?? policy.isIssuer(issuer)
    }

    /// Whether a token could belong to both. An entry whose issuers the requests name shares none.
    func sharesIssuer(with other: ProviderSettings) -> Bool {
        guard issuers?.isOpen != true, other.issuers?.isOpen != true else { return false }
        if let list = issuers?.list { return list.issuers.contains(where: other.hasIssuer) }
        if let list = other.issuers?.list { return list.issuers.contains(where: hasIssuer) }
        return policy.sharesIssuer(with: other.policy)
    }
}
