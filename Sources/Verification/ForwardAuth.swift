private import Bytes
internal import IDToken
private import JOSE
private import Keys

/// Decides for gateways on one event loop, with one version of the settings: the policies, and the loop's verifier.
package final class ForwardAuth {
    package let verifier: RequestVerifier
    private let rules: [Rule]

    /// A policy, and those of the verifier's providers that it accepts.
    package final class Rule {
        package let policy: ForwardAuthPolicy
        let providers: ProviderIndex
        /// Those that must encrypt their ID Tokens, which no gateway's request can carry.
        let encrypting: ProviderIndex

        fileprivate init(_ policy: ForwardAuthPolicy, _ verifier: RequestVerifier) {
            self.policy = policy
            providers = ProviderIndex(verifier.slots) {
                policy.providers.containsExactly($0.policy.id) && !$0.mustEncrypt(.idToken)
            }
            encrypting = ProviderIndex(verifier.slots) {
                policy.providers.containsExactly($0.policy.id) && $0.mustEncrypt(.idToken)
            }
        }
    }

    package enum Decision {
        /// The request may pass, with these header fields.
        case allowed([(name: String, value: String)], provider: Int)
        case denied(Denial, provider: Int?)
        /// The token could not be verified, for a reason other than the token itself.
        case undecided(Problem, provider: Int?)
    }

    package init(_ policies: [ForwardAuthPolicy], by verifier: RequestVerifier) {
        self.verifier = verifier
        rules = policies.map { Rule($0, verifier) }
    }

    /// The policy with this ID, compared byte for byte.
    package func rule(named id: ArraySlice<UInt8>) -> Rule? { rules.first { $0.policy.id.isExactly(id.span) } }

    /// Verifies a token with the keys at hand.
    package func verify(
        _ text: ArraySlice<UInt8>, by rule: Rule, at now: VerificationTime
    ) -> RequestVerifier.Outcome<GatewayToken> {
        var index: Int?
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try verifier.read(text, ofProvider: nil, among: rule.providers)
            } catch {
                throw .rejected(error)
            }
            guard let index, let slot = verifier.slots[index] else {
                index = token.unverifiedIssuer.flatMap { rule.encrypting.withIssuer($0, verifier.slots) }
                throw index == nil ? .providerUnknown() : .encryption(.required(.idToken))
            }
            return try verify(token, index, slot, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verify(
        _ token: UnverifiedToken, _ index: Int, _ slot: RequestVerifier.ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> RequestVerifier.Outcome<GatewayToken> {
        if let dialect = slot.provider.accessTokens {
            return try verifier.attempt(accessToken: token, dialect, index, slot, now, AccessTokenParameters()) {
                token, _ in .accessToken(token)
            }
        }
        return try verifier.attempt(idToken: token, index, slot, now, Self.parameters) { token, _ in .idToken(token) }
    }

    /// Checks what the policy requires of a verified token.
    package func decision(
        on verdict: Verdict<GatewayToken>, by rule: Rule, at now: VerificationTime
    ) -> Decision {
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
            // A failure, not a rejection: the token may be valid, so it must not be denied.
            if problem.status >= 500 { return .undecided(problem, provider: provider) }
            // Another token of this user would be refused for the same reason.
            if case .rejected(.groupsOverage, _) = problem { return .denied(.groupsOverage, provider: provider) }
            return .denied(.tokenRejected(code: problem.code), provider: provider)
        }
    }

    /// An ID Token's nonce belongs to the sign-in and not to each request after it.
    static let parameters = {
        var parameters = VerificationParameters()
        parameters.nonceUse = .ignoreFromClient
        return parameters
    }()
}
