internal import HTTP
internal import IDToken
internal import Keys
internal import NIOCore
internal import OAuth
internal import SignIns
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

/// The steps of requests that call a provider's endpoints.
extension ServiceResponder {
    /// The deadline of one call to the provider.
    func callDeadline(_ call: GrantCall) -> MonotonicTime {
        call.time.deadline(of: service.settings.providerTimeout, from: SystemClocks.monotonic())
    }

    /// The deadline for waiting for keys.
    func keysDeadline(_ time: SharedTime) -> MonotonicTime {
        time.deadline(of: service.settings.keysTimeout, from: SystemClocks.monotonic())
    }

    /// Waits for keys that ID Tokens can be verified with, before a code is sent.
    ///
    /// - Returns: the problem if there are none.
    func usableKeys(_ call: GrantCall) -> EventLoopFuture<Problem?> {
        call.verifier.waitForUsableKeys(
            ofProvider: call.number, until: keysDeadline(call.time), on: service.loop)
    }

    /// Redeems a code or a refresh token.
    func exchange(
        _ request: GrantRequest, by clientID: String, at address: FetchURL, in slot: CallSlot, _ call: GrantCall
    ) -> EventLoopFuture<Called<Grant>> {
        call.grants.calls.exchange(
            request, by: clientID, at: address, slot, until: callDeadline(call)
        ).hop(to: service.loop)
    }

    /// Verifies an ID Token from the provider, and waits for keys if necessary.
    func verdict(_ request: VerifyRequest, _ call: GrantCall) -> EventLoopFuture<Verdict<VerifyAnswer>> {
        let loop = service.loop
        let verifier = call.verifier
        let verdict: EventLoopFuture<Verdict<VerifyAnswer>> =
            switch verifier.verify(request, at: .now()) {
            case .decided(let verdict): loop.makeCompletedFuture(.success(verdict))
            case .pending(let wait):
                verifier.waitForKeys(wait, until: keysDeadline(call.time), on: loop) {
                    verifier.verify(request, at: .now())
                }
            }
        return verdict.assumeIsolated().map { verdict in
            self.count(verdict)
            return verdict
        }.nonisolated()
    }

    func end(_ call: GrantCall, _ failure: FinishFailure) -> HTTPResponse {
        end(call.operation, call.number, call.record, failure)
    }

    func end(
        _ operation: GrantMetrics.Operation, _ number: Int, _ record: RequestRecord, _ failure: FinishFailure
    ) -> HTTPResponse {
        let code = failure.problem.code
        service.metrics.grants.count(number, operation, code: code)
        if failure.dropsGrant { service.metrics.grants.countDropped(number, code: code) }
        // Codes are exchanged to finish sign-ins.
        if operation == .exchange { service.metrics.signIns.countFinished(provider: number, code: code) }
        return service.end(record, failure.problem, provider: number, spent: failure.isSpent)
    }
}

/// The time that all steps of a request share: waiting for keys, the claim, and the calls to a provider.
///
/// With the store's answers it is 10 s, less than the 12 s that clients wait: a backend must learn whether a code was
/// used up.
struct SharedTime: Sendable {
    /// Half a second is left for the claim or its release, which may be the last step (`sign_ins.store.timeout` is 250 ms
    /// by default).
    static let ofSteps = Interval(milliseconds: 9500)

    private let end: MonotonicTime

    init(from begunAt: MonotonicTime) { end = begunAt + Self.ofSteps }

    /// The deadline of a step that begins now and has a timeout of its own.
    func deadline(of timeout: Interval, from now: MonotonicTime) -> MonotonicTime { min(now + timeout, end) }
}
