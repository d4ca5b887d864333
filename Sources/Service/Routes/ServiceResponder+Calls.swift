internal import Grants
internal import Host
internal import HTTPServer
private import IDToken
internal import KeySource
internal import NIOCore
internal import ProviderClient
internal import SignIns
internal import Verification

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
