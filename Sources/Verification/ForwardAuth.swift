internal import AccessTokens
private import Bytes
package import Gateway
package import Host
private import IDToken
private import JOSE
private import KeySource
package import NIOCore

/// Decides for gateways on one event loop, with one version of the settings: the policies, and the loop's verifier.
package final class ForwardAuth {
    private let verifier: RequestVerifier
    private let rules: [Rule]

    /// A policy, and those of the verifier's providers that it accepts.
    package final class Rule {
        package let policy: ForwardAuthPolicy
        fileprivate let providers: ProviderIndex

        fileprivate init(_ policy: ForwardAuthPolicy, _ verifier: RequestVerifier) {
            self.policy = policy
            providers = ProviderIndex(verifier.slots) { policy.providers.containsExactly($0.policy.id) }
        }
    }

    package enum Decision {
        /// The request may pass, with these header fields.
        case allowed([(name: String, value: String)], provider: Int)
        case denied(Denial, provider: Int?)
        /// The token could not be verified, for a reason other than the token itself.
        case undecided(Problem, provider: Int?)
    }

    /// A decision, or a token that has to wait for keys.
    package enum Outcome {
        case decided(Decision)
        case pending(Pending)
    }

    /// A token whose decision could change with newer keys.
    package struct Pending {
        fileprivate let token: ArraySlice<UInt8>
        fileprivate let rule: Rule
        fileprivate let wait: RequestVerifier.KeyWait
    }

    package init(_ policies: [ForwardAuthPolicy], by verifier: RequestVerifier) {
        self.verifier = verifier
        rules = policies.map { Rule($0, verifier) }
    }

    /// The policy with this ID, compared byte for byte.
    package func rule(named id: ArraySlice<UInt8>) -> Rule? { rules.first { $0.policy.id.isExactly(id.span) } }

    /// Verifies a token with the keys at hand, and checks what the policy requires.
    package func decide(_ token: ArraySlice<UInt8>, by rule: Rule, at now: VerificationTime) -> Outcome {
        switch attempt(token, rule, now) {
        case .decided(let verdict): .decided(decision(verdict, by: rule, at: now))
        case .waiting(let wait): .pending(Pending(token: token, rule: rule, wait: wait))
        }
    }

    /// Waits for the provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameter loop: this verifier's event loop.
    package func waitForKeys(
        _ pending: Pending, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Decision> {
        let provider = pending.wait.provider
        return verifier.wait(pending.wait, until: deadline, on: loop) { problem in
            Verdict.refused(problem, provider: provider)
        } verifyingAgain: {
            self.attempt(pending.token, pending.rule, .now())
        }.assumeIsolated().map { self.decision($0, by: pending.rule, at: .now()) }.nonisolated()
    }

    /// What is known about a token, before the policy's requirements are checked.
    private enum Verdict: Sendable {
        case verified(GatewayToken, provider: Int)
        case refused(Problem, provider: Int?)
    }

    private func decision(_ verdict: Verdict, by rule: Rule, at now: VerificationTime) -> Decision {
        switch verdict {
        case .verified(let token, let provider):
            let skew = verifier.slots[provider]?.policy.clockSkewSeconds ?? 0
            do throws(Denial) {
                let fields = try rule.policy.fields(for: token, now: now.wall, clockSkewSeconds: skew)
                return .allowed(fields, provider: provider)
            } catch {
                return .denied(error, provider: provider)
            }
        case .refused(let problem, let provider):
            // The token may be good.
            if problem.status >= 500 { return .undecided(problem, provider: provider) }
            return .denied(.tokenRejected(code: problem.code), provider: provider)
        }
    }

    private func attempt(
        _ text: ArraySlice<UInt8>, _ rule: Rule, _ now: VerificationTime
    ) -> RequestVerifier.Attempt<Verdict> {
        var index: Int?
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try verifier.read(text, ofProvider: nil, among: rule.providers)
            } catch {
                throw .rejected(error)
            }
            guard let index, let slot = verifier.slots[index] else { throw .providerUnknown }
            if let dialect = slot.provider.accessTokens {
                return try verifier.attempt(accessToken: token, dialect, index, slot, now, AccessTokenParameters()) {
                    token, _ in .verified(.accessToken(token), provider: index)
                }
            }
            return try attempt(idToken: token, index, slot, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// Verifies an ID Token without its nonce, which belongs to the sign-in and not to each request after it.
    ///
    /// - Throws: ``Problem/rejected(_:)``.
    private func attempt(
        idToken token: UnverifiedToken, _ index: Int, _ slot: RequestVerifier.ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> RequestVerifier.Attempt<Verdict> {
        var parameters = VerificationParameters()
        parameters.nonceUse = .ignoreFromClient
        let tokenVerifier = verifier.verifier
        return try verifier.attempt(token, index, slot, now, refused: Problem.rejected) {
            token.wouldPassClaims(of: slot.policy, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try tokenVerifier.checkHeader(token, under: slot.policy)
        } verifying: { keys throws(Rejection) in
            let verified = try tokenVerifier.verify(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, expecting: parameters,
                now: now.wall)
            return .verified(.idToken(verified), provider: index)
        }
    }
}
