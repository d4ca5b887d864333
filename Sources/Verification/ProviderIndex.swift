private import Bytes
private import IDToken

/// Finds the providers of one kind of token, by the numbers of their slots.
struct ProviderIndex {
    private var byID: [ExactString: Int] = [:]
    private var byIssuer: [ExactString: Int] = [:]
    /// The providers that accept tokens of any tenant, so their issuers can't be listed.
    private var ofAnyTenant: [Int] = []

    init(_ slots: [RequestVerifier.ProviderSlot?], where isOfKind: (Provider) -> Bool) {
        for case (let number, let slot?) in slots.enumerated() where isOfKind(slot.provider) {
            byID[ExactString(slot.policy.id)] = number
            guard let issuers = slot.policy.allIssuers else {
                ofAnyTenant.append(number)
                continue
            }
            for issuer in issuers { byIssuer[ExactString(issuer)] = number }
        }
    }

    /// The number of the provider with this ID.
    func named(_ id: String) -> Int? { byID[ExactString(id)] }

    /// The number of the provider with this issuer.
    func withIssuer(_ issuer: String, _ slots: [RequestVerifier.ProviderSlot?]) -> Int? {
        byIssuer[ExactString(issuer)] ?? ofAnyTenant.first { slots[$0]?.policy.isIssuer(issuer) == true }
    }
}
