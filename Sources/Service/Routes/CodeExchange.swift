internal import HTTP
internal import IDToken
private import JOSE
internal import Keys
internal import NIOCore
private import NIOHTTP1
internal import OAuth
private import OpenSSL
internal import Replay
internal import SignIns
internal import Verification

/// Finishes a sign-in by exchanging its code: claims the sign-in first, then sends the code once.
extension ServiceResponder {
    /// The endpoints and the slot of an exchange, obtained before its sign-in is claimed.
    struct ExchangeTarget {
        let token: FetchURL
        /// `nil` if UserInfo is not read.
        let userInfo: FetchURL?
        /// Reserved before the claim, so that a hanging provider uses up no sign-ins.
        let slot: CallSlot

        fileprivate init(_ call: GrantCall) throws(Problem) {
            token = try call.tokenEndpoint()
            userInfo = try call.userInfoEndpoint()
            slot = try call.slot()
        }
    }

    func exchange(
        _ pending: PendingExchange, _ signIns: LoopSignIns, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        return usableKeys(call).assumeIsolated().flatMap { problem -> EventLoopFuture<HTTPResponse> in
            do throws(Problem) {
                if let problem { throw problem }
                let target = try ExchangeTarget(call)
                let claim = try pending.claim(signIns.store.digests)
                let claimed = self.service.claim(claim, in: signIns.store)
                return claimed.result(on: loop).assumeIsolated().flatMap { result -> EventLoopFuture<HTTPResponse> in
                    var call = call
                    call.record.claim = result.time
                    do throws(Problem) {
                        let exchange = try pending.claimed(result.outcome)
                        return self.send(exchange, claim, to: target, signIns, call)
                    } catch {
                        return loop.makeSucceededFuture(self.end(call, .before(error)))
                    }
                }.nonisolated()
            } catch {
                return loop.makeSucceededFuture(self.end(call, .before(error)))
            }
        }.nonisolated()
    }

    private func send(
        _ exchange: ClaimedExchange, _ claim: Claim, to target: ExchangeTarget, _ signIns: LoopSignIns,
        _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        let called = self.exchange(exchange.request, by: exchange.clientID, at: target.token, in: target.slot, call)
        return called.assumeIsolated().flatMap { called -> EventLoopFuture<HTTPResponse> in
            let call = call.with(called.reports)
            switch called.result {
            case .success(let grant): return self.verify(grant, exchange, target, call)
            case .failure(let failure):
                switch failure {
                case .notSent:
                    return self.service.release(claim, after: .none, in: signIns.store).assumeIsolated().map {
                        self.end(call, exchange.notSent(failure, isReleased: $0))
                    }.nonisolated()
                case .grantInvalid(_, isIssued: false):
                    // The answer is the same whether or not this is confirmed, so it does not wait.
                    _ = self.service.release(claim, after: .refused, in: signIns.store)
                case .grantInvalid, .unavailable, .clientRejected, .refused, .answerInvalid: break
                }
                return loop.makeSucceededFuture(self.end(call, .ofCode(failure)))
            }
        }.nonisolated()
    }

    private func verify(
        _ grant: Grant, _ exchange: ClaimedExchange, _ target: ExchangeTarget, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        func verified(_ exchanged: ExchangedSignIn, _ verdict: Verdict<VerifyAnswer>?) -> EventLoopFuture<HTTPResponse>
        {
            do throws(FinishFailure) {
                return self.complete(try exchanged.verified(verdict), by: exchange.clientID, target, call)
            } catch {
                return loop.makeSucceededFuture(self.end(call, error))
            }
        }
        do throws(FinishFailure) {
            let exchanged = try exchange.exchanged(grant)
            guard let verification = exchanged.verification else { return verified(exchanged, nil) }
            return verdict(verification, call).assumeIsolated().flatMap { verified(exchanged, $0) }.nonisolated()
        } catch {
            return loop.makeSucceededFuture(end(call, error))
        }
    }

    /// Completes the identity from the UserInfo endpoint, if the settings say so.
    private func complete(
        _ exchange: VerifiedExchange, by clientID: String, _ target: ExchangeTarget, _ call: GrantCall
    ) -> EventLoopFuture<HTTPResponse> {
        guard let address = target.userInfo else {
            return service.loop.makeSucceededFuture(end(call, exchange.finished))
        }
        let called = call.grants.calls.userInfo(
            exchange.userInfoRequest, of: exchange.subject, by: clientID, at: address, target.slot,
            until: callDeadline(call)
        ).hop(to: service.loop)
        return called.assumeIsolated().map { called in
            let call = call.with(called.reports)
            do throws(FinishFailure) {
                return self.end(call, try exchange.finished(called.result, under: call.policy))
            } catch {
                return self.end(call, error)
            }
        }.nonisolated()
    }

    private func end(_ call: GrantCall, _ finished: FinishedSignIn) -> HTTPResponse {
        service.metrics.grants.count(call.number, .exchange, code: "ok")
        service.metrics.signIns.countFinished(provider: call.number, code: "ok")
        let text = service.json { finished.write(to: &$0) }
        return service.end(call.record, .ok, "application/json", text, provider: call.number)
    }
}
