internal import Grants
internal import IDToken
internal import KeySource
internal import ProviderClient
internal import Verification

/// A request that calls a provider's endpoints.
struct GrantCall {
    let operation: GrantMetrics.Operation
    let number: Int
    let grants: ProviderGrants
    let policy: ProviderPolicy
    /// Has the settings under which the request began.
    let verifier: RequestVerifier
    let time: SharedTime
    var record: RequestRecord

    /// - Throws: ``Problem/clientNotConfigured``.
    init(
        _ operation: GrantMetrics.Operation, _ number: Int, _ provider: Provider, _ record: RequestRecord,
        _ verifier: RequestVerifier, within time: SharedTime
    ) throws(Problem) {
        guard let grants = provider.grants else { throw .clientNotConfigured }
        self.operation = operation
        self.number = number
        self.grants = grants
        policy = provider.policy
        self.verifier = verifier
        self.time = time
        self.record = record
    }

    /// The same call, with the requests to the provider that it caused.
    func with(_ calls: [CallReport]) -> GrantCall {
        var call = self
        call.record.calls += calls
        return call
    }

    /// Reserves one of the provider's `max_calls`.
    ///
    /// - Throws: ``Problem/callsFull``.
    func slot() throws(Problem) -> CallSlot {
        guard let slot = grants.slots.reserve() else { throw .callsFull }
        return slot
    }

    /// - Throws: ``Problem/endpointUnknown``.
    func tokenEndpoint() throws(Problem) -> FetchURL {
        guard let address = grants.tokenEndpoint(discovered) else { throw .endpointUnknown }
        return address
    }

    /// - Throws: ``Problem/endpointUnknown``, ``Problem/revocationNotSupported``.
    func revocationEndpoint() throws(Problem) -> FetchURL {
        try known(grants.revocationEndpoint(discovered), else: .revocationNotSupported)
    }

    /// How clients may authenticate at the revocation endpoint; `nil` if that is not known.
    var revocationMethods: [String]? { grants.revocationMethods(discovered) }

    /// - Returns: `nil` if UserInfo is not read.
    /// - Throws: ``Problem/endpointUnknown``, ``Problem/providerAnswerInvalid(_:)`` if the discovery document names none.
    func userInfoEndpoint() throws(Problem) -> FetchURL? {
        guard grants.rules.readsUserInfo else { return nil }
        return try known(grants.userInfoEndpoint(discovered), else: .providerAnswerInvalid(.noUserInfoEndpoint))
    }

    private var discovered: DiscoveredEndpoints? { verifier.discoveredEndpoints(ofProvider: number) }

    private func known(
        _ endpoint: ProviderGrants.OptionalEndpoint, else missing: Problem
    ) throws(Problem) -> FetchURL {
        switch endpoint {
        case .known(let address): return address
        case .unknown: throw .endpointUnknown
        case .none: throw missing
        }
    }
}
