internal import HTTP
private import IDToken
internal import JOSE
internal import Keys
internal import NIOCore
private import NIOHTTP1
internal import OAuth
private import SignIns
internal import Verification

/// `POST /v1/grants/refresh` and `POST /v1/grants/revoke`.
extension ServiceResponder {
    func refreshGrant(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try RefreshRequest(body)
        return try begin(.refresh, request.provider, record) { provider, call throws(Problem) in
            let refresh = try request.ready(under: provider.policy, provider.grants?.rules)
            let call = try call()
            return .later { self.refresh(refresh, call) }
        }
    }

    private func refresh(_ refresh: ReadyRefresh, _ call: GrantCall) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        let started: EventLoopFuture<Called<Grant>>
        do throws(Problem) {
            let address = try call.tokenEndpoint()
            started = exchange(refresh.request, by: refresh.clientID, at: address, in: try call.slot(), call)
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
                return self.verdict(verification, call).assumeIsolated().map { self.end(call, refresh, grant, $0) }
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
        return try begin(.revoke, request.provider, record) { provider, call throws(Problem) in
            let revocation = try request.ready(under: provider.policy, provider.grants?.rules)
            let call = try call()
            let address = try call.revocationEndpoint()
            return .later {
                switch revocation {
                case .token(let request, let clientID): self.revoke(request, by: clientID, at: address, call)
                case .code(let code): self.revoke(code, at: address, call)
                }
            }
        }
    }

    private func revoke(
        _ request: RevocationRequest, by clientID: String, at address: FetchURL, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        do throws(Problem) {
            return revoke(request, by: clientID, at: address, in: try call.slot(), call, isSpent: false)
        } catch {
            return service.loop.makeSucceededFuture(end(call, .before(error)))
        }
    }

    /// Exchanges a code, verifies the returned ID Token, and revokes the tokens.
    private func revoke(
        _ code: CodeToRevoke, at address: FetchURL, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        return usableKeys(call).assumeIsolated().flatMap { problem -> EventLoopFuture<HTTPResponse> in
            let started: EventLoopFuture<Called<Grant>>
            let slot: CallSlot
            do throws(Problem) {
                // One slot covers both calls: if the second had to reserve its own and got none, the code would be
                // lost.
                slot = try call.slot()
                if let problem { throw problem }
                started = self.exchange(code.request, by: code.clientID, at: try call.tokenEndpoint(), in: slot, call)
            } catch {
                return loop.makeSucceededFuture(self.end(call, .before(error)))
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
                return self.verdict(verification, call).assumeIsolated().flatMap {
                    verdict -> EventLoopFuture<HTTPResponse> in
                    do throws(FinishFailure) {
                        let request = try code.revocation(of: grant, verdict)
                        return self.revoke(request, by: code.clientID, at: address, in: slot, call, isSpent: true)
                    } catch {
                        return loop.makeSucceededFuture(self.end(call, error))
                    }
                }.nonisolated()
            }.nonisolated()
        }.nonisolated()
    }

    /// - Parameter isSpent: whether a failure means that a code was used up.
    private func revoke(
        _ request: RevocationRequest, by clientID: String, at address: FetchURL, in slot: CallSlot, _ call: GrantCall,
        isSpent: Bool
    ) -> EventLoopFuture<HTTPResponse> {
        let called = call.grants.calls.revoke(
            request, by: clientID, at: address, accepting: call.revocationMethods, slot, until: callDeadline(call)
        ).hop(to: service.loop)
        return called.assumeIsolated().map { called in
            let call = call.with(called.reports)
            if case .failure(let failure) = called.result {
                return self.end(call, FinishFailure(Problem(failure), isSpent: isSpent))
            }
            self.service.metrics.grants.count(call.number, .revoke, code: "ok")
            return self.service.end(call.record, .noContent, "application/json", provider: call.number)
        }.nonisolated()
    }

    /// - Parameter reply: checks the request against the provider's settings, and only then makes the call.
    private func begin(
        _ operation: GrantMetrics.Operation, _ provider: String, _ record: RequestRecord,
        reply: (Provider, () throws(Problem) -> GrantCall) throws(Problem) -> HTTPReply
    ) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        guard let (number, provider) = verifier.provider(provider) else {
            throw verifier.unknownProvider(named: provider)
        }
        do throws(Problem) {
            return try reply(provider) { () throws(Problem) in
                try GrantCall(
                    operation, number, provider, record, verifier, within: SharedTime(from: SystemClocks.monotonic()))
            }
        } catch {
            return .now(end(operation, number, record, .before(error)))
        }
    }
}
