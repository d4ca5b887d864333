internal import HTTP
internal import IDToken
internal import JOSE
private import NIOCore
private import NIOHTTP1
private import SignIns
internal import Verification

/// Responses to requests that verify one token.
extension ServiceResponder {
    @inline(__always)
    func response<Answer: TokenAnswer>(to verdict: Verdict<Answer>, _ record: RequestRecord) -> HTTPResponse {
        switch verdict {
        case .verified(let answer, let provider):
            let text = service.json { answer.write(to: &$0) }
            return service.end(record, .ok, "application/json", text, provider: provider)
        case .refused(let problem, let provider): return service.end(record, problem, provider: provider)
        }
    }
}

/// `POST /v1/access-tokens/verify`.
extension ServiceResponder {
    func verifyAccessToken(_ body: JSONObject, _ record: RequestRecord) -> HTTPReply {
        let verifier = service.verifier
        let request: AccessTokenRequest
        do throws(Problem) {
            request = try AccessTokenRequest(body, service.proofChecks, for: verifier.resources)
        } catch {
            let resource = AccessTokenRequest.resource(namedIn: body, among: verifier.resources)
            return .now(service.end(record, error, of: resource))
        }
        if let opaque = verifier.opaqueToken(in: request) {
            let timeout = service.settings.providerTimeout
            let verdict = verifier.verdict(
                on: opaque, expecting: request.parameters, timeout: timeout,
                until: SystemClocks.monotonic() + timeout)
            if let introspected = verdict.immediate {
                return reply(
                    with: introspected.answer(to: request), to: request, by: verifier,
                    record.counting(introspected, in: service))
            }
            return .later {
                let introspected = await verdict.value()
                return self.answer(
                    await self.claimingProof(of: introspected.answer(to: request)).value(), to: request, by: verifier,
                    record.counting(introspected, in: self.service))
            }
        }
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict): return reply(with: verdict, to: request, by: verifier, record)
        case .pending(let wait):
            return .later {
                let verdict = await verifier.verdict(after: wait, until: self.keysDeadline()) {
                    verifier.verify(request, at: $0)
                }
                return self.answer(await self.claimingProof(of: verdict).value(), to: request, by: verifier, record)
            }
        }
    }

    /// Answers at once, unless the token's proof must be claimed elsewhere.
    private func reply(
        with verdict: Verdict<AccessTokenAnswer>, to request: AccessTokenRequest, by verifier: RequestVerifier,
        _ record: RequestRecord
    ) -> HTTPReply {
        guard case .verified(let verified, _) = verdict, verified.newProof != nil else {
            return .now(answer(verdict, to: request, by: verifier, record))
        }
        return HTTPReply(claimingProof(of: verdict).map { self.answer($0, to: request, by: verifier, record) })
    }

    /// The verdict after the token's proof has been claimed.
    private func claimingProof(of verdict: Verdict<AccessTokenAnswer>) -> Reply<Verdict<AccessTokenAnswer>, Never> {
        guard case .verified(let answer, let provider) = verdict, let proof = answer.newProof else {
            return .now(verdict)
        }
        return problem(claiming: proof, ofProvider: provider).map { verdict.unless($0) }
    }

    private func answer(
        _ verdict: Verdict<AccessTokenAnswer>, to request: AccessTokenRequest, by verifier: RequestVerifier,
        _ record: RequestRecord
    ) -> HTTPResponse {
        let resource = verifier.resource(of: request)
        switch verdict {
        case .verified(let answer, let provider):
            service.metrics.accessTokens.count(.init(provider: provider, code: "ok"))
            let nonce = service.proofNonce(ofProvider: provider, for: resource)
            return service.end(record, provider: provider) { answer.write(to: &$0, proofNonce: nonce) }
        case .refused(let problem, let provider):
            service.note(verdict)
            service.metrics.accessTokens.count(.init(provider: provider, code: problem.code))
            let challenge = verifier.challenge(to: request, problem, provider: provider, service.settings.proofs)
            return service.end(record, problem, provider: provider, of: resource, challenge: challenge)
        }
    }
}

/// DPoP proofs are claimed when nothing else can refuse the token, so a rejected one uses none up.
extension ServiceResponder {
    /// Claims a proof: at once if the store is in memory. Otherwise nothing is claimed before the wait begins, so that a
    /// request that is shed uses no proof up.
    ///
    /// - Parameters:
    ///   - provider: the number of the token's provider.
    ///   - deadline: how long to wait for the store, if it is sooner than the store's own timeout.
    /// - Returns: why the token is rejected; `nil` if it is not.
    func problem(
        claiming proof: DPoPProof, ofProvider provider: Int, until deadline: MonotonicTime? = nil
    ) -> Reply<Problem?, Never> {
        do throws(Problem) {
            guard let store = service.proofStore else { throw .storeUnavailable(isSpent: false) }
            let claim = try proof.claim(ofProvider: service.providerIDs[provider], store.digests)
            switch store.attempt(claim, until: deadline) {
            case .now(let made): return .now(problem(counting: made))
            case .later(let begin):
                return .later { self.problem(counting: await ClaimStore.Attempt.later(begin).made()) }
            }
        } catch {
            return .now(error)
        }
    }

    private func problem(counting made: ClaimStore.Made) -> Problem? {
        service.metrics.proofClaims.count(made)
        return DPoPProof.problem(made.outcome)
    }
}

extension ServiceLoop {
    /// The nonce that a client's next proof must have; `nil` if proofs need none.
    ///
    /// - Parameters:
    ///   - provider: the number of the token's provider; `nil` if it is not known.
    ///   - resource: that the request names.
    func proofNonce(ofProvider provider: Int?, for resource: Resource?) -> String? {
        proofNonce(
            ofProvider: provider, for: resource?.proofUse ?? ProofUse(), among: resource?.providers ?? [])
    }
}

extension RequestRecord {
    /// Counts how the answer about an opaque token came.
    ///
    /// - Returns: the record with the calls to the provider.
    func counting(_ introspected: IntrospectedVerdict, in service: ServiceLoop) -> RequestRecord {
        if let isCached = introspected.isCached {
            service.metrics.introspections.count(.init(provider: introspected.provider, isCached: isCached))
        }
        guard !introspected.calls.isEmpty else { return self }
        var record = self
        record.calls = introspected.calls
        return record
    }
}

/// `POST /v1/notifications/verify`.
extension ServiceResponder {
    func verifyNotification(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        let request = try NotificationRequest(body)
        func response(to verdict: Verdict<NotificationAnswer>) -> HTTPResponse {
            service.metrics.notifications.count(
                .init(provider: verdict.provider, kind: verdict.answer?.notification.kind, code: verdict.code))
            return self.response(to: verdict, record)
        }
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict): return .now(response(to: verdict))
        case .pending(let wait):
            return .later {
                let verdict = await verifier.verdict(after: wait, until: self.keysDeadline()) {
                    verifier.verify(request, at: $0)
                }
                return response(to: verdict)
            }
        }
    }
}
