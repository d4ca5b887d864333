internal import AccessTokens
private import Bytes
internal import Gateway
internal import Host
internal import IDToken
internal import KeySource
internal import NIOCore
internal import TokenDiagnostics

extension ForwardAuth {
    /// Explains the decision on a token: every check of its verification, then every requirement of the policy. Fetches
    /// keys in the same cases as the decision.
    ///
    /// - Parameters:
    ///   - deadline: how long to wait for keys.
    ///   - loop: the verifier's event loop.
    func explain(
        _ token: ArraySlice<UInt8>, by rule: Rule, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<RequestVerifier.Explained> {
        verifier.judged(until: deadline, on: loop) { self.verify(token, by: rule, at: $0) }.assumeIsolated()
            .map { status, verdict in
                RequestVerifier.Explained(verdict.provider) { () throws(Problem) in
                    self.explain(token, rule, status, verdict, now: SystemClocks.unixSeconds())
                }
            }.nonisolated()
    }

    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - now: in Unix seconds.
    private func explain(
        _ text: ArraySlice<UInt8>, _ rule: Rule, _ status: KeyStatus?, _ verdict: Verdict<GatewayToken>, now: Int64
    ) -> ExplainAnswer {
        let slot = verdict.provider.flatMap { verifier.slots[$0] }
        let explanation = explanation(of: text, rule, slot, status, verdict, now: now)
        let requirements = PolicyChecks(policy: rule.policy, now: UnixTime(seconds: now))
        let checks = requirements.checks(of: verdict.answer, clockSkewSeconds: slot?.policy.clockSkewSeconds ?? 0)
        let validSummary = "The policy \(rule.policy.id) lets requests with this token pass."
        return ExplainAnswer(
            explanation: explanation.adding(checks, validSummary: validSummary), provider: slot?.policy.id,
            keys: status, time: now)
    }

    /// Explains the verification of the token.
    private func explanation(
        of text: ArraySlice<UInt8>, _ rule: Rule, _ slot: RequestVerifier.ProviderSlot?, _ status: KeyStatus?,
        _ verdict: Verdict<GatewayToken>, now: Int64
    ) -> Explanation {
        let tokenVerifier = verifier.verifier
        let time = UnixTime(seconds: now)
        let token: UnverifiedToken
        do throws(Rejection) {
            (token, _) = try verifier.read(text, ofProvider: nil, among: rule.providers)
        } catch {
            return tokenVerifier.explain(malformed: text, error)
        }
        let accepted = verifier.slots.compactMap { slot in
            slot.flatMap { rule.policy.providers.containsExactly($0.policy.id) ? $0.policy : nil }
        }
        guard let slot else { return tokenVerifier.explain(token, ofNoneOf: accepted, now: time) }
        let keys = ExplainedKeys(status, onceDecided: verdict.problem, now: now)
        let others = accepted.filter { !$0.id.isExactly(slot.policy.id) }
        guard let dialect = slot.provider.accessTokens else {
            return tokenVerifier.explain(
                token, with: keys, under: slot.policy, isNamed: false, others: others,
                expecting: Self.parameters, now: time)
        }
        return tokenVerifier.explain(
            accessToken: token, with: keys, under: slot.policy, dialect, isNamed: false, others: others,
            expecting: AccessTokenParameters(), now: time)
    }
}
