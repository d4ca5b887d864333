internal import HTTP
private import IDToken
internal import JOSE
private import Keys
private import NIOCore
private import NIOHTTP1
private import OAuth
private import OpenSSL
internal import SignIns
internal import Verification

/// `POST /v1/sign-ins` and `POST /v1/sign-ins/finish`.
extension ServiceResponder {
    func beginSignIn(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let signIns = try signIns()
        let request = try BeginRequest(body)
        guard let (number, provider) = service.verifier.provider(request.provider) else {
            throw service.verifier.unknownProvider(named: request.provider)
        }
        let begun = try BegunSignIn(
            request, under: provider.policy, provider.grants?.rules, authorizationEndpoint(number, provider),
            now: VerificationTime.now().wall,
            sealedBy: signIns.sealer, signIns.store.digests)
        service.metrics.signIns.countBegun(provider: number)
        let text = service.json { begun.write(to: &$0) }
        return .now(service.end(record, .created, "application/json", text, provider: number))
    }

    private func authorizationEndpoint(_ number: Int, _ provider: Provider) -> AuthorizationEndpoint? {
        let discovered = service.verifier.discoveredEndpoints(ofProvider: number)
        guard let grants = provider.grants, case .known(let url) = grants.authorizationEndpoint(discovered) else {
            return nil
        }
        return AuthorizationEndpoint(
            url: url.text, sendsResponseIssuer: grants.sendsResponseIssuer(discovered) ?? false)
    }

    func finishSignIn(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let signIns = try signIns()
        let now = VerificationTime.now()
        // Keep one verifier from the check to the verification, even if settings are reloaded in between.
        let verifier = service.verifier
        let time = SharedTime(from: now.monotonic)
        var found: (number: Int, provider: Provider)?
        do throws(Problem) {
            let request = try FinishRequest(body)
            let opened = try request.open(by: signIns.sealer, now: now.wall)
            found = verifier.provider(opened.content.provider)
            guard let (number, provider) = found else { throw .signInInvalid }
            let plan = try FinishPlan(opened, request, under: finishRules(number, provider, verifier))
            func call() throws(Problem) -> GrantCall {
                try GrantCall(.exchange, number, provider, record, verifier, within: time)
            }
            switch plan {
            case .token(let finishing):
                return verified(finishing.verification, at: now, within: time, by: verifier) {
                    self.claim(finishing, $0, signIns, record)
                }
            case .code(let code):
                let call = try call()
                return .later { self.exchange(code, signIns, call) }
            case .tokenThenCode(let finishing):
                let call = try call()
                return verified(finishing.verification, at: now, within: time, by: verifier) { verdict in
                    self.count(verdict)
                    switch verdict {
                    case .refused(let problem, let provider): return .now(self.refuse(problem, provider, record))
                    case .verified(let answer, _):
                        // Only after the connection has admitted the request, so that a request that is shed has
                        // claimed nothing.
                        return .later { self.exchange(finishing.verified(answer), signIns, call) }
                    }
                }
            }
        } catch {
            return .now(refuse(error, found?.number, record))
        }
    }

    private func finishRules(_ number: Int, _ provider: Provider, _ verifier: RequestVerifier) -> FinishRules {
        let discovered = verifier.discoveredEndpoints(ofProvider: number)
        return FinishRules(
            policy: provider.policy, grants: provider.grants?.rules,
            sendsResponseIssuer: provider.grants?.sendsResponseIssuer(discovered))
    }

    /// Verifies the ID Token that finishes a sign-in, waiting for keys, and goes on with the verdict.
    private func verified(
        _ request: VerifyRequest, at now: VerificationTime, within time: SharedTime, by verifier: RequestVerifier,
        then finish: @escaping (Verdict<VerifyAnswer>) -> HTTPReply
    ) -> HTTPReply {
        switch verifier.verify(request, at: now) {
        case .decided(let verdict): return finish(verdict)
        case .pending(let wait):
            return .later {
                let loop = self.service.loop
                return verifier.waitForKeys(wait, until: self.keysDeadline(time), on: loop) {
                    verifier.verify(request, at: .now())
                }.assumeIsolated().flatMap { verdict in
                    switch finish(verdict) {
                    case .now(let response): loop.makeSucceededFuture(response)
                    case .later(_, let begin): begin()
                    }
                }.nonisolated()
            }
        }
    }

    /// Claims the sign-in once its token has been verified, and responds. A remote store is called only after the
    /// connection has admitted the request: if it is shed as overload, the client may send the same finish again.
    private func claim(
        _ finishing: FinishingSignIn, _ verdict: Verdict<VerifyAnswer>, _ signIns: LoopSignIns, _ record: RequestRecord
    ) -> HTTPReply {
        count(verdict)
        let (answer, provider): (VerifyAnswer, Int)
        switch verdict {
        case .refused(let problem, let provider): return .now(refuse(problem, provider, record))
        case .verified(let verifiedAnswer, let number): (answer, provider) = (verifiedAnswer, number)
        }
        let verified = finishing.verified(answer)
        let reply: CountedClaim
        do throws(Problem) {
            let claim = try verified.claim(signIns.store.digests)
            reply = service.claim(claim, in: signIns.store)
        } catch {
            return .now(refuse(error, provider, record))
        }
        func response(to claim: CountedClaim.Result) -> HTTPResponse {
            var record = record
            record.claim = claim.time
            do throws(Problem) {
                let finished = try verified.finished(claim.outcome)
                service.metrics.signIns.countFinished(provider: provider, code: "ok")
                return service.end(
                    record, .ok, "application/json", service.json { finished.write(to: &$0) }, provider: provider)
            } catch {
                return refuse(error, provider, record)
            }
        }
        switch reply {
        case .now(let claim): return .now(response(to: claim))
        case .later(let begin): return .later { begin().assumeIsolated().map(response).nonisolated() }
        }
    }

    private func refuse(_ problem: Problem, _ provider: Int?, _ record: RequestRecord) -> HTTPResponse {
        service.metrics.signIns.countFinished(provider: provider, code: problem.code)
        return service.end(record, problem, provider: provider)
    }

    /// - Throws: ``Problem/featureOff(_:)`` if sign-ins are disabled.
    private func signIns() throws(Problem) -> LoopSignIns {
        guard let signIns = service.signIns else { throw .featureOff(.signIns) }
        return signIns
    }
}
