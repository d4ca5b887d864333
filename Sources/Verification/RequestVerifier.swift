private import Bytes
internal import Host
package import IDToken
internal import JOSE
package import KeySource

/// Verifies the requests of one event loop under one configuration: the verifier of tokens, the providers, and their keys as
/// this loop last heard of them.
///
/// Confined to its loop: a new snapshot is delivered to it, so that verifying reads plain variables and takes no lock. Other
/// settings make another one, and a request that waits goes on with the one it began with.
package final class RequestVerifier {
    /// By number; `nil` where the provider is not configured any more.
    private let slots: [ProviderSlot?]
    package let verifier: IDTokenVerifier
    private let indicesByID: [ExactString: Int]
    private let indicesByIssuer: [ExactString: Int]
    /// The providers whose issuers can't be listed, since they take tokens of any tenant.
    private let indicesOfAnyTenant: [Int]

    /// A provider, and its keys as this loop last heard of them.
    ///
    /// An object of this loop's own: a policy and a snapshot are structures of many parts, and each copy of one would count
    /// references, some of them to what the other loops count as well.
    private final class ProviderSlot {
        let provider: Provider
        let policy: ProviderPolicy
        let delivered: LoopKeySnapshot
        var keys: LoopKeySnapshot.Latest? { delivered.latest }

        init(_ provider: Provider, _ delivered: LoopKeySnapshot) {
            self.provider = provider
            self.delivered = delivered
            policy = provider.policy
        }
    }

    /// A request that newer keys might decide otherwise.
    package struct Pending {
        package let request: VerifyRequest
        let keys: KeyStore
        /// What it lacks.
        let need: KeyStore.StateMachine.FetchReason
        /// The version of the keys that it was judged by.
        let version: Int
        /// Whether the provider may have published the key meanwhile: where it can't be asked, nothing can be said of the
        /// token. If not, the keys at hand decide.
        let isMissingKey: Bool
        package let provider: Int
        /// The verdict by the keys at hand.
        let currentProblem: Problem
    }

    /// A verdict, or what has to be waited for.
    package enum Outcome {
        case decided(Verdict)
        case pending(Pending)

        /// The number of the provider that the token is of; `nil` where there is none.
        package var provider: Int? {
            switch self {
            case .decided(let verdict): verdict.provider
            case .pending(let pending): pending.provider
            }
        }
    }

    /// - Parameter providers: by the number under which a verdict names them; `nil` where there is none.
    package init(_ providers: [(provider: Provider, keys: LoopKeySnapshot)?], by verifier: IDTokenVerifier) {
        slots = providers.map { $0.map { ProviderSlot($0.provider, $0.keys) } }
        self.verifier = verifier
        var byID: [ExactString: Int] = [:]
        var byIssuer: [ExactString: Int] = [:]
        for case (let index, let provider?) in providers.lazy.map({ $0?.provider }).enumerated() {
            byID[ExactString(provider.policy.id)] = index
            for issuer in provider.policy.allIssuers ?? [] { byIssuer[ExactString(issuer)] = index }
        }
        indicesOfAnyTenant = providers.indices.filter {
            providers[$0].map { $0.provider.policy.allIssuers == nil } == true
        }
        indicesByID = byID
        indicesByIssuer = byIssuer
    }

    /// The providers by their numbers, with their keys.
    package var providers: [(number: Int, provider: Provider, snapshot: KeySnapshot?)] {
        slots.enumerated().compactMap { number, slot in
            slot.map { (number, $0.provider, $0.delivered.snapshot) }
        }
    }

    package func provider(_ id: String) -> (number: Int, provider: Provider)? {
        guard let number = indicesByID[ExactString(id)], let slot = slots[number] else { return nil }
        return (number, slot.provider)
    }

    func provider(ofIssuer issuer: String) -> (number: Int, provider: Provider)? {
        guard let number = index(ofIssuer: issuer), let slot = slots[number] else { return nil }
        return (number, slot.provider)
    }

    /// The provider that tokens with this issuer are from.
    private func index(ofIssuer issuer: String) -> Int? {
        indicesByIssuer[ExactString(issuer)]
            ?? indicesOfAnyTenant.first { slots[$0]?.policy.isIssuer(issuer) == true }
    }

    /// Verifies one token, in the order of the contract: request, form, then everything that the verifier checks.
    package func verify(_ request: VerifyRequest, at now: VerificationTime) -> Outcome {
        var index = request.provider.flatMap { indicesByID[ExactString($0)] }
        if request.provider != nil, index == nil { return .decided(.refused(.providerUnknown, provider: nil)) }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return .decided(.refused(.rejected(error), provider: index))
        }
        if index == nil { index = token.unverifiedIssuer.flatMap(self.index(ofIssuer:)) }
        guard let index, let slot = slots[index] else {
            return .decided(.refused(.providerUnknown, provider: nil))
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
        guard let keys = slot.keys, now.monotonic <= keys.usableUntil else {
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
            if let need = need(after: error, token, keys.snapshot, slot.policy, now.monotonic),
                token.wouldPassClaims(of: slot.policy, now: now.wall)
            {
                let isMissingKey = error == .keyNotFound || !(token.keyID.map(keys.snapshot.hasKey) ?? true)
                return .pending(
                    Pending(
                        request: request, keys: slot.provider.keys, need: need, version: keys.snapshot.version,
                        isMissingKey: isMissingKey, provider: index, currentProblem: .rejected(error)))
            }
            return .decided(.refused(.rejected(error), provider: index))
        }
    }

    /// There are no keys: what can be refused without them is, and nothing has them fetched that could not pass with them.
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
        return .pending(
            Pending(
                request: request, keys: slot.provider.keys, need: .anyKeys(mayFetch: mayFetch),
                version: slot.keys?.snapshot.version ?? 0, isMissingKey: true, provider: index,
                currentProblem: .keysUnavailable(retryAfterSeconds: 1)))
    }

    /// The nonce that a verdict uses up: that of a verified token, where the provider's nonces are used once.
    package func singleUseNonce(of request: VerifyRequest, _ verdict: Verdict) -> SingleUseNonce? {
        guard case .verified(let answer, let index) = verdict, let slot = slots[index], slot.provider.usesNoncesOnce
        else { return nil }
        return SingleUseNonce(answer, of: request, under: slot.policy)
    }

    /// Whether a nonce of any provider is used once.
    package var usesNoncesOnce: Bool { slots.contains { $0?.provider.usesNoncesOnce == true } }

    /// What newer keys might hold, if a rejection is for want of it.
    ///
    /// A token that names no key has its signature tried with those that fit; if none of them made it, the provider may have
    /// changed its key without anything in the token to tell. A provider may also put another key, or one of another type,
    /// in place of the one that a token names. And where the provider's own document says which algorithms it uses, it may
    /// have begun to use another.
    private func need(
        after rejection: Rejection, _ token: UnverifiedToken, _ snapshot: KeySnapshot, _ policy: ProviderPolicy,
        _ now: MonotonicTime
    ) -> KeyStore.StateMachine.FetchReason? {
        switch (rejection, token.keyID) {
        case (.keyNotFound, let keyID?) where !snapshot.hasKey(keyID): .key(keyID)
        // The store would say the same, at the price of a hop to its loop for each bad signature of a flood.
        case (.keyNotFound, let keyID?), (.keyUnsuitable, let keyID?), (.signatureInvalid, let keyID?):
            snapshot.isConfirmed(at: now) ? nil : .replacedKey(keyID)
        case (.keyNotFound, nil), (.keyUnsuitable, nil), (.signatureInvalid, nil): .newerKeys
        case (.algorithmNotAllowed, _): policy.algorithms == nil && token.algorithm != nil ? .newerKeys : nil
        default: nil
        }
    }
}
