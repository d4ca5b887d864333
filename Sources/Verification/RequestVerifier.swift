internal import Host
package import IDToken
internal import JOSE
package import KeySource

/// Verifies the requests of one event loop with one version of the settings: the token verifier, the providers, and the
/// loop's latest copy of their keys.
///
/// Confined to its loop. New snapshots are delivered to it, so verifying reads plain variables and takes no lock. New
/// settings create another verifier; a waiting request keeps the one it started with.
package final class RequestVerifier {
    /// Indexed by number; `nil` if the provider is no longer configured.
    let slots: [ProviderSlot?]
    package let verifier: IDTokenVerifier
    /// The providers whose ID Tokens are verified.
    let ofIDTokens: ProviderIndex
    /// The providers whose access tokens are verified. An issuer can be in both.
    let ofAccessTokens: ProviderIndex

    /// A provider, and this loop's latest copy of its keys.
    ///
    /// A class, because policies and snapshots are large structs: each copy would retain many references, some of them
    /// shared with other loops.
    final class ProviderSlot {
        let provider: Provider
        let policy: ProviderPolicy
        let delivered: LoopKeySnapshot
        var keys: LoopKeySnapshot.Latest? { delivered.latest }

        /// The keys, unless they are too old to be used.
        func keys(usableAt now: MonotonicTime) -> LoopKeySnapshot.Latest? {
            guard let keys, now <= keys.usableUntil else { return nil }
            return keys
        }

        init(_ provider: Provider, _ delivered: LoopKeySnapshot) {
            self.provider = provider
            self.delivered = delivered
            policy = provider.policy
        }
    }

    /// A request whose verdict could change with newer keys.
    package struct Pending {
        package let request: VerifyRequest
        let wait: KeyWait
        package var provider: Int { wait.provider }
    }

    /// What a request waits for.
    struct KeyWait {
        let keys: KeyStore
        /// What to fetch.
        let need: KeyStore.StateMachine.FetchReason
        /// The version of the keys that gave the current verdict.
        let version: Int
        /// Whether the token's key may have been published since the last fetch. If the provider can't be reached, the
        /// token's validity is then unknown. If this is false, the current keys decide.
        let isMissingKey: Bool
        let provider: Int
        /// The verdict with the current keys.
        let currentProblem: Problem
    }

    /// A verdict, or a request that has to wait for keys.
    package enum Outcome {
        case decided(Verdict)
        case pending(Pending)

        /// The number of the token's provider; `nil` if there is none.
        package var provider: Int? {
            switch self {
            case .decided(let verdict): verdict.provider
            case .pending(let pending): pending.provider
            }
        }
    }

    /// - Parameter providers: indexed by number, as in verdicts; `nil` for numbers without a provider.
    package init(_ providers: [(provider: Provider, keys: LoopKeySnapshot)?], by verifier: IDTokenVerifier) {
        slots = providers.map { $0.map { ProviderSlot($0.provider, $0.keys) } }
        self.verifier = verifier
        ofIDTokens = ProviderIndex(slots) { $0.accessTokens == nil }
        ofAccessTokens = ProviderIndex(slots) { $0.accessTokens != nil }
    }

    package var providers: [(number: Int, provider: Provider, snapshot: KeySnapshot?)] {
        slots.enumerated().compactMap { number, slot in
            slot.map { (number, $0.provider, $0.delivered.snapshot) }
        }
    }

    /// A provider of either kind of token.
    package func provider(_ id: String) -> (number: Int, provider: Provider)? {
        guard let number = ofIDTokens.named(id) ?? ofAccessTokens.named(id), let slot = slots[number] else {
            return nil
        }
        return (number, slot.provider)
    }

    /// Verifies one token, in the contract's order: the request, the token's form, then all checks of the verifier.
    package func verify(_ request: VerifyRequest, at now: VerificationTime) -> Outcome {
        var index = request.provider.flatMap(ofIDTokens.named)
        if let named = request.provider, index == nil {
            return .decided(.refused(noProvider(named: named, ofAccessTokens: false), provider: nil))
        }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return .decided(.refused(.rejected(error), provider: index))
        }
        if index == nil { index = token.unverifiedIssuer.flatMap { ofIDTokens.withIssuer($0, slots) } }
        guard let index, let slot = slots[index] else {
            let problem = noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: false)
            return .decided(.refused(problem, provider: nil))
        }
        return verify(token, request, index, slot, now)
    }

    private func verify(
        _ token: UnverifiedToken, _ request: VerifyRequest, _ index: Int, _ slot: ProviderSlot, _ now: VerificationTime
    ) -> Outcome {
        do throws(Problem) {
            try request.check(against: slot.policy)
        } catch {
            return .decided(.refused(error, provider: index))
        }
        guard let keys = slot.keys(usableAt: now.monotonic) else {
            return verdictWithoutKeys(token, request, index, slot, now.wall)
        }
        do throws(Rejection) {
            let verified = try verifier.verify(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy,
                expecting: request.parameters, now: now.wall)
            let answer = VerifyAnswer(
                token: verified, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
            return .decided(.verified(answer, provider: index))
        } catch {
            let problem = Problem.rejected(error)
            let wait = wait(after: error, problem, token, keys.snapshot, index, slot, now.monotonic) {
                token.wouldPassClaims(of: slot.policy, now: now.wall)
            }
            guard let wait else { return .decided(.refused(problem, provider: index)) }
            return .pending(Pending(request: request, wait: wait))
        }
    }

    /// The outcome without keys. A token that can be rejected without keys is rejected; keys are fetched only for a
    /// token that could pass.
    private func verdictWithoutKeys(
        _ token: UnverifiedToken, _ request: VerifyRequest, _ index: Int, _ slot: ProviderSlot, _ now: UnixTime
    ) -> Outcome {
        let policy = slot.policy
        do throws(Rejection) {
            try verifier.checkHeader(token, under: policy)
        } catch {
            return .decided(.refused(.rejected(error), provider: index))
        }
        let mayFetch = token.wouldPassClaims(of: policy, now: now)
        return .pending(Pending(request: request, wait: KeyWait(without: slot, index, mayFetch: mayFetch)))
    }

    /// The nonce that a verdict uses up: a verified token's, if the provider's nonces are single-use.
    package func singleUseNonce(of request: VerifyRequest, _ verdict: Verdict) -> SingleUseNonce? {
        guard case .verified(let answer, let index) = verdict, let slot = slots[index], slot.provider.usesNoncesOnce
        else { return nil }
        return SingleUseNonce(answer, of: request, under: slot.policy)
    }

    /// Whether any provider's nonces are single-use.
    package var usesNoncesOnce: Bool { slots.contains { $0?.provider.usesNoncesOnce == true } }

    /// What to wait for, if newer keys could change a rejection.
    ///
    /// - Parameters:
    ///   - problem: the problem for the rejection.
    ///   - couldPass: whether the token's unverified claims would pass.
    func wait(
        after rejection: Rejection, _ problem: Problem, _ token: UnverifiedToken, _ snapshot: KeySnapshot,
        _ index: Int, _ slot: ProviderSlot, _ now: MonotonicTime, couldPass: () -> Bool
    ) -> KeyWait? {
        guard let need = need(after: rejection, token, snapshot, slot.policy, now), couldPass() else { return nil }
        return KeyWait(
            keys: slot.provider.keys, need: need, version: snapshot.version,
            isMissingKey: rejection == .keyNotFound || !(token.keyID.map(snapshot.hasKey) ?? true),
            provider: index, currentProblem: problem)
    }

    /// What to fetch, if newer keys could change a rejection.
    ///
    /// If a token names no key, all suitable keys are tried. If none verifies it, the provider may have rotated its
    /// key, and the token would not show it. A provider may also replace the key that a token names, even with one of
    /// another type. If the algorithms come from the provider's own metadata, it may have started to use another.
    private func need(
        after rejection: Rejection, _ token: UnverifiedToken, _ snapshot: KeySnapshot, _ policy: ProviderPolicy,
        _ now: MonotonicTime
    ) -> KeyStore.StateMachine.FetchReason? {
        switch (rejection, token.keyID) {
        case (.keyNotFound, let keyID?) where !snapshot.hasKey(keyID): .key(keyID)
        // The store would decide the same, but in a flood each bad signature would cost a hop to its loop.
        case (.keyNotFound, let keyID?), (.keyUnsuitable, let keyID?), (.signatureInvalid, let keyID?):
            snapshot.isConfirmed(at: now) ? nil : .replacedKey(keyID)
        case (.keyNotFound, nil), (.keyUnsuitable, nil), (.signatureInvalid, nil): .newerKeys
        case (.algorithmNotAllowed, _): policy.algorithms == nil && token.algorithm != nil ? .newerKeys : nil
        default: nil
        }
    }
}

extension RequestVerifier.KeyWait {
    /// Waits for a provider's first usable keys.
    init(without slot: RequestVerifier.ProviderSlot, _ index: Int, mayFetch: Bool) {
        self.init(
            keys: slot.provider.keys, need: .anyKeys(mayFetch: mayFetch), version: slot.keys?.snapshot.version ?? 0,
            isMissingKey: true, provider: index, currentProblem: .keysUnavailable(retryAfterSeconds: 1))
    }
}
