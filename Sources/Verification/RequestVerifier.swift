private import Bytes
internal import HTTP
package import IDToken
internal import JOSE
package import Keys
internal import NIOCore

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
    /// Those of them whose ID Tokens need not be encrypted: an index of their own, so that no other token pays for the
    /// question.
    let ofPlainIDTokens: ProviderIndex
    /// The decryptions of this loop; `nil` if nothing else runs on it.
    let decryptions: DecryptionQueue?
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

    /// - Parameters:
    ///   - providers: indexed by number, as in verdicts; `nil` for numbers without a provider.
    ///   - decryptions: `nil` if nothing else runs on the loop.
    package init(
        _ providers: [(provider: Provider, keys: LoopKeySnapshot)?], by verifier: IDTokenVerifier,
        decryptions: DecryptionQueue? = nil
    ) {
        slots = providers.map { $0.map { ProviderSlot($0.provider, $0.keys) } }
        self.verifier = verifier
        self.decryptions = decryptions
        ofPlainIDTokens = ProviderIndex(slots) { $0.accessTokens == nil && !$0.mustEncrypt(.idToken) }
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

    /// Verifies an ID Token, in the contract's order: the request, the token's form, then all checks of the verifier.
    package func verify(_ request: VerifyRequest, at now: VerificationTime) -> Outcome<VerifyAnswer> {
        var index = request.provider.flatMap(ofPlainIDTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { return try verify(request, onlyEncryptedBy: named, now) }
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.idToken)
            } catch {
                return .pending(.opening(try opening(request, index, refusedWith: error)))
            }
            if index == nil { index = token.unverifiedIssuer.flatMap { ofPlainIDTokens.withIssuer($0, slots) } }
            guard let index, let slot = slots[index] else { throw noProvider(ofPlain: token) }
            return try verify(token, request, index, slot, now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    func verify(
        _ token: UnverifiedToken, _ request: VerifyRequest, _ index: Int, _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<VerifyAnswer> {
        try request.check(against: slot.policy)
        return try attempt(idToken: token, index, slot, now, request.parameters) { token, keys in
            VerifyAnswer(token: token, keys: keys.used(at: now.monotonic), extras: request.extras)
        }
    }

    /// - Parameter answer: creates the answer from a verified token and the keys that verified it.
    /// - Throws: ``Problem/rejected(_:of:)``.
    @inline(__always)
    func attempt<Answer>(
        idToken token: UnverifiedToken, _ index: Int, _ slot: ProviderSlot, _ now: VerificationTime,
        _ parameters: VerificationParameters, answer: (consuming VerifiedIDToken, LoopKeySnapshot.Latest) -> Answer
    ) throws(Problem) -> Outcome<Answer> {
        try attempt(token, index, slot, now, of: .idToken) {
            token.wouldPassClaims(of: slot.policy, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try verifier.checkHeader(token, under: slot.policy)
        } verifying: { keys throws(Rejection) in
            let verified = try verifier.verify(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, expecting: parameters,
                now: now.wall)
            return answer(verified, keys)
        }
    }

    /// The nonce that a verdict uses up: a verified token's, if the provider's nonces are single-use.
    package func singleUseNonce(of request: VerifyRequest, _ verdict: Verdict<VerifyAnswer>) -> SingleUseNonce? {
        guard case .verified(let answer, let index) = verdict, let slot = slots[index], slot.provider.usesNoncesOnce
        else { return nil }
        return SingleUseNonce(answer, of: request, under: slot.policy)
    }
}

extension RequestVerifier {
    /// Reads a token without verifying anything, and finds the provider by its issuer if the request names none.
    ///
    /// Padding is allowed only in assertions of an AWS load balancer. No text is both a JWT and such an assertion.
    ///
    /// - Parameters:
    ///   - named: the number of the provider that the request names.
    ///   - providers: those to choose from if it names none.
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    func read(
        _ text: ArraySlice<UInt8>, ofProvider named: Int?, among providers: ProviderIndex
    ) throws(Rejection) -> (token: UnverifiedToken, provider: Int?) {
        if let named, slots[named]?.provider.accessTokens?.loadBalancer != nil {
            return (try UnverifiedToken(padded: text), named)
        }
        do throws(Rejection) {
            let token = try verifier.read(text)
            return (token, named ?? token.unverifiedIssuer.flatMap { providers.withIssuer($0, slots) })
        } catch {
            guard named == nil, providers.hasLoadBalancers, let token = try? UnverifiedToken(padded: text),
                token.jws.headerObject?["signer"] != nil
            else { throw error }
            return (token, providers.withLoadBalancer(of: token, slots))
        }
    }
}

extension RequestVerifier {
    /// The problem if no provider for this kind of token was found. It says so if an entry for the other kind has the
    /// ID or the issuer.
    ///
    /// - Parameters:
    ///   - named: the provider that the request names; `nil` if it names none.
    ///   - issuer: of the token; `nil` if it is not known.
    ///   - isAccessToken: whether a provider for access tokens was needed, rather than one for ID Tokens.
    func noProvider(named: String?, issuer: String? = nil, ofAccessTokens isAccessToken: Bool) -> Problem {
        let others = isAccessToken ? ofIDTokens : ofAccessTokens
        let other = if let named { others.named(named) } else { issuer.flatMap { others.withIssuer($0, slots) } }
        guard other != nil else { return unknownProvider(named: named) }
        return isAccessToken ? .providerOfIDTokens : .providerOfAccessTokens
    }

    /// The problem of a request that names a provider that is not configured.
    ///
    /// - Parameter named: `nil` if it names none.
    package func unknownProvider(named: String?) -> Problem {
        .providerUnknown(
            nearest: named.flatMap { Suggestion.nearest(to: $0, among: slots.compactMap { $0?.policy.id }) })
    }
}

/// Information about providers that requests for codes and grants need.
extension RequestVerifier {
    /// The endpoints of the provider's discovery document; `nil` if none has been read yet.
    package func discoveredEndpoints(ofProvider number: Int) -> DiscoveredEndpoints? {
        slots[number]?.delivered.endpoints
    }
}
