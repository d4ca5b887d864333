internal import Grants
internal import Host
internal import HTTPServer
private import IDToken
internal import JSON
internal import KeySource
internal import NIOCore
private import NIOHTTP1
internal import ProviderClient
private import SignIns
internal import Verification

/// `POST /v1/grants/refresh` and `POST /v1/grants/revoke`.
extension ServiceResponder {
    /// The timeout of all calls to a provider for one request. Less than the 12 seconds that clients wait.
    static let totalTimeout = Interval.seconds(11)

    func refreshGrant(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try RefreshRequest(body)
        let call = try GrantCall(.refresh, request.provider, record, service)
        let refresh: ReadyRefresh
        do throws(Problem) {
            refresh = try request.ready(under: call.provider.policy, call.provider.grants?.rules)
        } catch {
            return .now(end(call, .before(error)))
        }
        return .later { self.refresh(refresh, call) }
    }

    private func refresh(_ refresh: ReadyRefresh, _ call: GrantCall) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        let started: EventLoopFuture<Called<Grant>>
        do throws(Problem) {
            started = try exchange(refresh.request, by: refresh.clientID, call)
        } catch {
            return loop.makeSucceededFuture(end(call, .before(error)))
        }
        return started.assumeIsolated().flatMap { called -> EventLoopFuture<HTTPResponse> in
            let call = call.with(called.reports)
            switch called.result {
            case .failure(let failure): return loop.makeSucceededFuture(self.end(call, refresh.failure(failure)))
            case .success(let grant):
                guard let verification = refresh.verification(of: grant) else {
                    return loop.makeSucceededFuture(self.end(call, refresh, grant, nil))
                }
                return self.verdict(verification, by: call.verifier, until: call.deadline).assumeIsolated().map {
                    self.end(call, refresh, grant, $0)
                }
                .nonisolated()
            }
        }.nonisolated()
    }

    private func end(
        _ call: GrantCall, _ refresh: ReadyRefresh, _ grant: Grant, _ verdict: Verdict<VerifyAnswer>?
    ) -> HTTPResponse {
        do throws(FinishFailure) {
            let answer = try refresh.answer(grant, verdict)
            service.metrics.grants.count(call.number, .refresh, code: "ok")
            let text = service.json { answer.write(to: &$0, requestID: call.record.id) }
            return service.end(call.record, .ok, "application/json", text, provider: call.number)
        } catch {
            return end(call, error)
        }
    }

    func revokeGrant(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try RevokeRequest(body)
        let call = try GrantCall(.revoke, request.provider, record, service)
        let revocation: ReadyRevocation
        let endpoint: RevocationTarget
        do throws(Problem) {
            revocation = try request.ready(under: call.provider.policy, call.provider.grants?.rules)
            endpoint = try revocationTarget(call)
        } catch {
            return .now(end(call, .before(error)))
        }
        return .later {
            switch revocation {
            case .token(let request, let clientID):
                self.revoke(request, by: clientID, at: endpoint, call, isSpent: false)
            case .code(let code): self.revoke(code, at: endpoint, call)
            }
        }
    }

    /// The calls of a provider, and its revocation endpoint.
    struct RevocationTarget {
        let grants: ProviderGrants
        let address: FetchURL
    }

    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/revocationNotSupported``,
    ///   ``Problem/providerUnavailable(retryAfterSeconds:limit:)``.
    private func revocationTarget(_ call: GrantCall) throws(Problem) -> RevocationTarget {
        guard let grants = call.provider.grants else { throw .clientNotConfigured }
        switch grants.revocationEndpoint(call.verifier.discoveredEndpoints(ofProvider: call.number)) {
        case .known(let address): return RevocationTarget(grants: grants, address: address)
        case .unknown: throw .endpointUnknown
        case .none: throw .revocationNotSupported
        }
    }

    /// Exchanges a code, verifies the ID Token that it gave, and revokes the tokens.
    private func revoke(
        _ code: CodeToRevoke, at target: RevocationTarget, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        func ended(_ failure: FinishFailure) -> EventLoopFuture<HTTPResponse> {
            loop.makeSucceededFuture(end(call, failure))
        }
        let keys = call.verifier.waitForUsableKeys(
            ofProvider: call.number, until: min(keysDeadline(), call.deadline), on: loop)
        return keys.assumeIsolated().flatMap { problem -> EventLoopFuture<HTTPResponse> in
            let started: EventLoopFuture<Called<Grant>>
            // One slot for both calls: without one for the second, the code would be lost.
            guard let slot = target.grants.slots.reserve() else { return ended(.before(.callsFull)) }
            do throws(Problem) {
                if let problem { throw problem }
                started = try self.exchange(code.request, by: code.clientID, call, in: slot)
            } catch {
                return ended(.before(error))
            }
            return started.assumeIsolated().flatMap { called -> EventLoopFuture<HTTPResponse> in
                let call = call.with(called.reports)
                let (grant, verification): (Grant, VerifyRequest)
                do throws(FinishFailure) {
                    switch called.result {
                    case .failure(let failure): throw .ofCode(failure)
                    case .success(let granted): (grant, verification) = (granted, try code.verification(of: granted))
                    }
                } catch {
                    return loop.makeSucceededFuture(self.end(call, error))
                }
                return self.verdict(verification, by: call.verifier, until: call.deadline).assumeIsolated().flatMap {
                    verdict -> EventLoopFuture<HTTPResponse> in
                    do throws(FinishFailure) {
                        let request = try code.revocation(of: grant, verdict)
                        return self.revoke(
                            request, by: code.clientID, at: target, call, in: slot, isSpent: true)
                    } catch {
                        return loop.makeSucceededFuture(self.end(call, error))
                    }
                }.nonisolated()
            }.nonisolated()
        }.nonisolated()
    }

    /// - Parameters:
    ///   - slot: reserved before; `nil`: one is reserved now.
    ///   - isSpent: whether a failure means that a code was used up.
    private func revoke(
        _ request: RevocationRequest, by clientID: String, at target: RevocationTarget, _ call: GrantCall,
        in slot: CallSlot? = nil, isSpent: Bool
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        guard let slot = slot ?? target.grants.slots.reserve() else {
            return loop.makeSucceededFuture(end(call, FinishFailure(.callsFull, isSpent: isSpent)))
        }
        let called = target.grants.calls.revoke(
            request, by: clientID, at: target.address, slot, until: min(callDeadline(), call.deadline)
        ).hop(to: loop)
        return called.assumeIsolated().map { called in
            let call = call.with(called.reports)
            if case .failure(let failure) = called.result {
                return self.end(call, FinishFailure(Problem(failure), isSpent: isSpent))
            }
            self.service.metrics.grants.count(call.number, .revoke, code: "ok")
            return self.service.end(call.record, .noContent, "application/json", provider: call.number)
        }.nonisolated()
    }

    // MARK: Parts

    /// Starts to redeem a code or a refresh token.
    ///
    /// - Parameter slot: reserved before; `nil`: one is reserved now.
    /// - Throws: ``Problem/providerUnavailable(retryAfterSeconds:limit:)`` if the endpoint is unknown or there are too
    ///   many calls.
    func exchange(
        _ request: GrantRequest, by clientID: String, _ call: GrantCall, in slot: CallSlot? = nil
    ) throws(Problem) -> EventLoopFuture<Called<Grant>> {
        guard let grants = call.provider.grants else { throw .clientNotConfigured }
        let discovered = call.verifier.discoveredEndpoints(ofProvider: call.number)
        guard let address = grants.tokenEndpoint(discovered) else { throw .endpointUnknown }
        guard let slot = slot ?? grants.slots.reserve() else { throw .callsFull }
        let called = grants.calls.exchange(
            request, by: clientID, at: address, slot, until: min(callDeadline(), call.deadline))
        return called.hop(to: service.loop)
    }

    func callDeadline() -> MonotonicTime { SystemClocks.monotonic() + service.settings.providerTimeout }

    /// Verifies an ID Token from the provider, and waits for keys if necessary.
    ///
    /// - Parameter deadline: of the whole request.
    func verdict(
        _ request: VerifyRequest, by verifier: RequestVerifier, until deadline: MonotonicTime
    ) -> EventLoopFuture<Verdict<VerifyAnswer>> {
        let loop = service.loop
        let keysDeadline = min(keysDeadline(), deadline)
        let verdict: EventLoopFuture<Verdict<VerifyAnswer>> =
            switch verifier.verify(request, at: .now()) {
            case .decided(let verdict): loop.makeCompletedFuture(.success(verdict))
            case .pending(let wait):
                verifier.waitForKeys(wait, until: keysDeadline, on: loop) { verifier.verify(request, at: .now()) }
            }
        return verdict.assumeIsolated().map { verdict in
            self.count(verdict)
            return verdict
        }.nonisolated()
    }

    private func end(_ call: GrantCall, _ failure: FinishFailure) -> HTTPResponse {
        let code = failure.problem.code
        service.metrics.grants.count(call.number, call.operation, code: code)
        if failure.dropsGrant { service.metrics.grants.countDropped(call.number, code: code) }
        return service.end(call.record, failure.problem, provider: call.number, spent: failure.isSpent)
    }
}

/// A request about a provider's grants.
struct GrantCall {
    let operation: GrantMetrics.Operation
    let number: Int
    let provider: Provider
    /// Has the settings under which the request began.
    let verifier: RequestVerifier
    /// The deadline of the whole request.
    let deadline = SystemClocks.monotonic() + ServiceResponder.totalTimeout
    private(set) var record: RequestRecord

    /// The same call, with the requests to the provider that it caused.
    func with(_ calls: [CallReport]) -> GrantCall {
        var call = self
        call.record.calls += calls
        return call
    }

    /// - Throws: ``Problem/providerUnknown``.
    init(
        _ operation: GrantMetrics.Operation, _ provider: String, _ record: RequestRecord, _ service: ServiceLoop
    ) throws(Problem) {
        verifier = service.verifier
        guard let found = verifier.provider(provider) else { throw .providerUnknown }
        self.operation = operation
        self.record = record
        (number, self.provider) = found
    }
}
