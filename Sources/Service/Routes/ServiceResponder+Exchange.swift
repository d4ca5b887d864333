internal import Grants
internal import Host
internal import HTTPServer
internal import IDToken
private import JSON
internal import KeySource
internal import NIOCore
private import NIOHTTP1
private import OpenSSL
internal import ProviderClient
internal import ReplayStore
internal import SignIns
internal import Verification

/// Finishes a sign-in whose code is exchanged: claims the sign-in, then sends the code, once.
extension ServiceResponder {
    /// - Parameter deadline: for the whole finish.
    func exchange(
        _ pending: PendingExchange, _ number: Int?, _ verifier: RequestVerifier, _ signIns: LoopSignIns,
        _ record: RequestRecord, until deadline: MonotonicTime
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        guard let number, let finish = FinishCall(number, record, verifier, until: deadline) else {
            return loop.makeSucceededFuture(refuse(.clientNotConfigured, number, record))
        }
        let keys = verifier.waitForUsableKeys(
            ofProvider: number, until: min(keysDeadline(), finish.deadline), on: loop)
        return keys.assumeIsolated().flatMap { problem -> EventLoopFuture<HTTPResponse> in
            do throws(Problem) {
                if let problem { throw problem }
                let discovered = verifier.discoveredEndpoints(ofProvider: number)
                guard let address = finish.grants.tokenEndpoint(discovered) else { throw .endpointUnknown }
                let finish = try finish.readingUserInfo(discovered)
                // Reserved before the claim, so that a hanging provider uses up no sign-ins.
                guard let slot = finish.grants.slots.reserve() else { throw .callsFull }
                let claim = try pending.claim(signIns.store.digests)
                let claimed = self.service.claim(claim.key, until: claim.end, in: signIns.store)
                return claimed.result(on: loop).assumeIsolated().flatMap { result -> EventLoopFuture<HTTPResponse> in
                    var finish = finish
                    finish.record.claim = result.time
                    do throws(Problem) {
                        let exchange = try pending.claimed(result.outcome)
                        return self.send(exchange, claim.key, to: address, slot, signIns, finish)
                    } catch {
                        return loop.makeSucceededFuture(self.end(finish, .before(error)))
                    }
                }.nonisolated()
            } catch {
                return loop.makeSucceededFuture(self.end(finish, .before(error)))
            }
        }.nonisolated()
    }

    private func send(
        _ exchange: ClaimedExchange, _ key: ClaimKey, to address: FetchURL, _ slot: CallSlot, _ signIns: LoopSignIns,
        _ finish: FinishCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        let called = finish.grants.calls.exchange(
            exchange.request, by: exchange.clientID, at: address, slot, until: min(callDeadline(), finish.deadline)
        ).hop(to: loop)
        return called.assumeIsolated().flatMap { called -> EventLoopFuture<HTTPResponse> in
            var finish = finish
            finish.record.calls += called.reports
            switch called.result {
            case .success(let grant): return self.verify(grant, exchange, slot, finish)
            case .failure(let failure):
                guard !failure.isSent else {
                    return loop.makeSucceededFuture(self.end(finish, .ofCode(failure)))
                }
                return signIns.store.claims.release(key, on: loop).assumeIsolated().map { isReleased in
                    self.service.metrics.signIns.countRelease(isReleased)
                    return self.end(finish, exchange.notSent(failure, isReleased: isReleased))
                }.nonisolated()
            }
        }.nonisolated()
    }

    private func verify(
        _ grant: Grant, _ exchange: ClaimedExchange, _ slot: CallSlot, _ finish: FinishCall
    ) -> EventLoopFuture<HTTPResponse> {
        let loop = service.loop
        func verified(_ exchanged: ExchangedSignIn, _ verdict: Verdict<VerifyAnswer>?) -> EventLoopFuture<HTTPResponse>
        {
            do throws(FinishFailure) {
                return self.complete(try exchanged.verified(verdict), by: exchange.clientID, slot, finish)
            } catch {
                return loop.makeSucceededFuture(self.end(finish, error))
            }
        }
        do throws(FinishFailure) {
            let exchanged = try exchange.exchanged(grant)
            guard let verification = exchanged.verification else { return verified(exchanged, nil) }
            return verdict(verification, by: finish.verifier, until: finish.deadline).assumeIsolated()
                .flatMap { verified(exchanged, $0) }.nonisolated()
        } catch {
            return loop.makeSucceededFuture(end(finish, error))
        }
    }

    /// Completes the identity by user info, if the settings say so.
    private func complete(
        _ exchange: VerifiedExchange, by clientID: String, _ slot: CallSlot, _ finish: FinishCall
    ) -> EventLoopFuture<HTTPResponse> {
        guard let address = finish.userInfo else {
            return service.loop.makeSucceededFuture(end(finish, exchange.finished))
        }
        let called = finish.grants.calls.userInfo(
            exchange.userInfoRequest, of: exchange.subject, by: clientID, at: address, slot,
            until: min(callDeadline(), finish.deadline)
        ).hop(to: service.loop)
        return called.assumeIsolated().map { called in
            var finish = finish
            finish.record.calls += called.reports
            do throws(FinishFailure) {
                return self.end(finish, try exchange.finished(called.result, under: finish.policy))
            } catch {
                return self.end(finish, error)
            }
        }.nonisolated()
    }

    private func end(_ finish: FinishCall, _ finished: FinishedSignIn) -> HTTPResponse {
        service.metrics.grants.count(finish.number, .exchange, code: "ok")
        service.metrics.signIns.countFinished(provider: finish.number, code: "ok")
        let text = service.json { finished.write(to: &$0) }
        return service.end(finish.record, .ok, "application/json", text, provider: finish.number)
    }

    private func end(_ finish: FinishCall, _ failure: FinishFailure) -> HTTPResponse {
        let code = failure.problem.code
        service.metrics.grants.count(finish.number, .exchange, code: code)
        if failure.dropsGrant { service.metrics.grants.countDropped(finish.number, code: code) }
        return refuse(failure, finish.number, finish.record)
    }
}

/// A finish whose code is exchanged.
struct FinishCall {
    let number: Int
    /// Has the settings under which the finish began.
    let verifier: RequestVerifier
    let policy: ProviderPolicy
    let grants: ProviderGrants
    /// The user info endpoint; `nil` if user info is not read.
    private(set) var userInfo: FetchURL?
    /// The deadline of the whole finish.
    let deadline: MonotonicTime
    var record: RequestRecord

    /// - Returns: `nil` if the provider has no clients.
    init?(_ number: Int, _ record: RequestRecord, _ verifier: RequestVerifier, until deadline: MonotonicTime) {
        let provider = verifier.providers.first { $0.number == number }?.provider
        guard let provider, let grants = provider.grants else { return nil }
        self.number = number
        self.verifier = verifier
        policy = provider.policy
        self.grants = grants
        self.record = record
        self.deadline = deadline
    }

    /// The same call, with the URL of the user info endpoint if the settings use it.
    ///
    /// - Throws: ``Problem/providerUnavailable(retryAfterSeconds:limit:)`` if it is not known yet,
    ///   ``Problem/providerAnswerInvalid`` if the discovery document names none.
    func readingUserInfo(_ discovered: DiscoveredEndpoints?) throws(Problem) -> FinishCall {
        guard grants.rules.readsUserInfo else { return self }
        var call = self
        switch grants.userInfoEndpoint(discovered) {
        case .known(let address): call.userInfo = address
        case .unknown: throw .endpointUnknown
        case .none: throw .providerAnswerInvalid
        }
        return call
    }
}
