private import Bytes
internal import IDToken
private import JOSE

/// Finds the providers for one kind of token. The result is the number of the provider's slot.
struct ProviderIndex {
    private var byID: [ExactString: Int] = [:]
    private var byIssuer: [ExactString: Int] = [:]
    /// The providers that accept tokens of any tenant, so their issuers can't be listed.
    private var ofAnyTenant: [Int] = []
    /// The providers that are AWS load balancers: the issuer of their assertions is an identity provider, which may
    /// have an entry of its own.
    private var loadBalancers: [Int] = []
    /// The providers with a list of issuers.
    private var withLists: [(number: Int, list: IssuerList)] = []

    init(_ slots: [RequestVerifier.ProviderSlot?], where isOfKind: (Provider) -> Bool) {
        for case (let number, let slot?) in slots.enumerated() where isOfKind(slot.provider) {
            byID[ExactString(slot.policy.id)] = number
            if let issuers = slot.provider.issuers {
                if let list = issuers.list { withLists.append((number, list)) }
                continue
            }
            guard slot.provider.accessTokens?.loadBalancer == nil else {
                loadBalancers.append(number)
                continue
            }
            guard let issuers = slot.policy.allIssuers else {
                ofAnyTenant.append(number)
                continue
            }
            for issuer in issuers { byIssuer[ExactString(issuer)] = number }
        }
    }

    var isEmpty: Bool { byID.isEmpty }

    /// The number of the provider with this ID.
    func named(_ id: String) -> Int? { byID[ExactString(id)] }

    /// The number of the provider with this issuer.
    func withIssuer(_ issuer: String, _ slots: [RequestVerifier.ProviderSlot?]) -> Int? {
        byIssuer[ExactString(issuer)] ?? withLists.first { $0.list[issuer] != nil }?.number
            ?? ofAnyTenant.first { slots[$0]?.policy.isIssuer(issuer) == true }
    }

    /// Whether any provider is a load balancer, whose assertions are padded.
    var hasLoadBalancers: Bool { !loadBalancers.isEmpty }

    /// The number of the load balancer with the assertion's issuer: the one that the assertion names as its signer, or
    /// else the first.
    func withLoadBalancer(of token: UnverifiedToken, _ slots: [RequestVerifier.ProviderSlot?]) -> Int? {
        guard let issuer = token.unverifiedIssuer else { return nil }
        let ofIssuer = loadBalancers.filter { slots[$0]?.policy.isIssuer(issuer) == true }
        let signer = token.jws.headerObject?["signer"]?.string
        let signing = ofIssuer.first { number in
            guard let signer else { return false }
            return slots[number]?.provider.accessTokens?.loadBalancer?.isExactly(signer) == true
        }
        return signing ?? ofIssuer.first
    }
}
