private import Bytes
package import IDToken
private import JOSE
private import Keys
private import OAuth

/// Decides for gateways on one event loop, with one version of the settings: the policies, and the loop's verifier.
package final class ForwardAuth {
    package let verifier: RequestVerifier
    private let rules: [Rule]

    /// A policy, and those of the verifier's providers that it accepts.
    package final class Rule {
        package let policy: ForwardAuthPolicy
        /// What its challenges name.
        private let schemes: ChallengeSchemes
        /// `nil`: the policy takes no proofs.
        private let proofs: ProofRules?
        let providers: ProviderIndex
        /// The number of the provider that is asked about opaque tokens; `nil` if there is none.
        let opaque: Int?
        /// What the requests are for; `nil`: the policy names no resource.
        let resource: ServedResource?
        private let verifier: RequestVerifier
        /// Those that must encrypt their ID Tokens, which no gateway's request can carry.
        let encrypting: ProviderIndex

        fileprivate init(_ policy: ForwardAuthPolicy, _ verifier: RequestVerifier, _ proofs: ProofRules?) {
            self.policy = policy
            self.verifier = verifier
            let resource = policy.resource.flatMap(verifier.resource)
            self.resource = resource
            let accepted = policy.providers.compactMap { verifier.provider($0)?.number }.sorted()
            providers = ProviderIndex(verifier.slots, among: accepted) {
                $0.introspector == nil && !$0.mustEncrypt(.idToken)
            }
            encrypting = ProviderIndex(verifier.slots, among: accepted) { $0.mustEncrypt(.idToken) }
            opaque = policy.providers.lazy.compactMap(verifier.ofOpaqueTokens.named).first
            let takesBearer = accepted.contains { number in
                verifier.slots[number]?.provider.accessTokens?.requiredBinding != .dpop
            }
            self.proofs = policy.takesProofs ? proofs : nil
            let algorithms = self.proofs?.algorithms.elements ?? []
            schemes = ChallengeSchemes(takesBearer: takesBearer, proofAlgorithms: algorithms.map(\.rawValue))
        }

        /// The value of `WWW-Authenticate` in the response to a denied request; `nil` if there is none.
        ///
        /// - Parameters:
        ///   - token: the request's token; `nil` if none was read.
        ///   - provider: its provider's number.
        package func challenge(for denial: Denial, token: ArraySlice<UInt8>?, provider: Int?) -> String? {
            guard let resource, denial.isAboutToken else { return denial.challenge(schemes) }
            return resource.challenge(
                code: denial.code, scopes: policy.requirements.scopes, proofs,
                needsProof: verifier.needsProof(token, ofProvider: provider)
            ).field
        }
    }

    package enum Decision {
        /// The request may pass, with these header fields.
        case allowed([(name: String, value: String)], provider: Int)
        case denied(Denial, provider: Int?)
        /// The token could not be verified, for a reason other than the token itself.
        case undecided(Problem, provider: Int?)

        /// The number of the token's provider; `nil` if it is not known.
        package var provider: Int? {
            switch self {
            case .allowed(_, let provider): provider
            case .denied(_, let provider), .undecided(_, let provider): provider
            }
        }
    }

    /// - Parameter proofs: the rules of DPoP proofs; `nil` if none are taken.
    package init(_ policies: [ForwardAuthPolicy], by verifier: RequestVerifier, _ proofs: ProofRules?) {
        self.verifier = verifier
        rules = policies.map { Rule($0, verifier, proofs) }
    }

    /// The policy with this ID, compared byte for byte.
    package func rule(named id: ArraySlice<UInt8>) -> Rule? { rules.first { $0.policy.id.isExactly(id.span) } }

    /// The token, if the policy's provider with opaque tokens must be asked about it.
    ///
    /// - Returns: `nil` for a token that is verified with keys.
    package func opaqueToken(_ text: ArraySlice<UInt8>, by rule: Rule) -> RequestVerifier.OpaqueToken? {
        // An entry for ID Tokens of the same issuer comes first.
        rule.opaque.flatMap { number in
            verifier.opaqueToken(text, of: number, for: rule.resource) {
                rule.providers.withIssuer($0, verifier.slots) != nil
            }
        }
    }

    /// Verifies a token with the keys at hand.
    ///
    /// - Parameter evidence: what the request has to prove the key that the token is bound to.
    package func verify(
        _ text: ArraySlice<UInt8>, with evidence: BindingEvidence, by rule: Rule, at now: VerificationTime
    ) -> RequestVerifier.Outcome<GatewayToken> {
        var index: Int?
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try verifier.read(text, ofProvider: nil, among: rule.providers)
            } catch {
                if rule.resource != nil, text.isOpaque(error) { throw .issuerNotOfResource }
                throw .rejected(error)
            }
            guard let index, let slot = verifier.slot(index, of: rule.resource) else {
                index = token.unverifiedIssuer.flatMap { rule.encrypting.withIssuer($0, verifier.slots) }
                guard index == nil else { throw .encryption(.required(.idToken)) }
                throw rule.resource == nil ? .providerUnknown() : .issuerNotOfResource
            }
            let kind: Problem.TokenKind = slot.provider.accessTokens == nil ? .idToken : .accessToken
            return try verify(token, evidence, index, slot.slot(for: token, nil, of: kind), now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// - Parameter slot: of the token's issuer.
    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verify(
        _ token: UnverifiedToken, _ evidence: BindingEvidence, _ index: Int, _ slot: RequestVerifier.ProviderSlot,
        _ now: VerificationTime
    ) throws(Problem) -> RequestVerifier.Outcome<GatewayToken> {
        if let dialect = slot.provider.accessTokens {
            let parameters = AccessTokenParameters(evidence: evidence)
            return try verifier.attempt(accessToken: token, dialect, index, slot, now, parameters) {
                token, _ in .accessToken(token)
            }
        }
        // ID Tokens are never bound to a key.
        if evidence.needsBoundToken { throw .rejected(.bindingMissing, of: .accessToken) }
        return try verifier.attempt(idToken: token, index, slot, now, Self.parameters) { token, _ in .idToken(token) }
    }

    /// Checks what the policy requires of a verified token.
    package func decision(
        on verdict: Verdict<GatewayToken>, by rule: Rule, at now: VerificationTime
    ) -> Decision {
        switch verdict {
        case .verified(let token, let provider):
            let slot = verifier.slots[provider]
            do throws(Denial) {
                let fields = try rule.policy.fields(
                    for: token, speakingFor: slot?.provider.domains(ofIssuerOf: token), now: now.wall,
                    clockSkewSeconds: slot?.policy.clockSkewSeconds ?? 0)
                return .allowed(fields, provider: provider)
            } catch {
                return .denied(error, provider: provider)
            }
        case .refused(let problem, let provider):
            // A failure, not a rejection: it is not about the token, which may be valid, so it must not be denied.
            if problem.status >= 500 { return .undecided(problem, provider: provider) }
            if case .providerRefused = problem { return .undecided(problem, provider: provider) }
            return .denied(Denial(problem), provider: provider)
        }
    }

    /// An ID Token's nonce belongs to the sign-in and not to each request after it.
    static let parameters = {
        var parameters = VerificationParameters()
        parameters.nonceUse = .ignoreFromClient
        return parameters
    }()
}

extension Denial {
    /// - Parameter problem: with which the other endpoints reject the token.
    fileprivate init(_ problem: Problem) {
        let code = problem.code
        self =
            switch problem {
            // Another token of this user would be refused for the same reason.
            case .rejected(.groupsOverage, _): .groupsOverage
            case .rejected(.bindingRequired, _), .rejected(.bindingMissing, _), .rejected(.bindingMismatch, _):
                .bindingRejected(code: code)
            case .rejected(.proofInvalid, _), .proofReplayed: .proofRejected(code: code)
            case .rejected(.proofNonceRequired, _): .nonceRequired(code: code)
            default: .tokenRejected(code: code)
            }
    }
}
