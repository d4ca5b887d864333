internal import Bytes
internal import HTTP
package import IDToken
internal import JOSE
package import Keys
internal import NIOCore
internal import OAuth

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
    /// The providers whose JWT access tokens are verified. An issuer can be in all of these.
    let ofAccessTokens: ProviderIndex
    /// The providers that are asked about their access tokens.
    let ofOpaqueTokens: ProviderIndex
    /// The numbers of the providers by the alternative issuers that only notifications use.
    let ofNotificationIssuers: [ExactString: Int]
    package let resources: [ServedResource]
    /// The answers about opaque tokens that this loop has used lately.
    let introspections = LoopIntrospections()

    /// A provider, and this loop's latest copy of its keys.
    ///
    /// A class, because policies and snapshots are large structs: each copy would retain many references, some of them
    /// shared with other loops.
    final class ProviderSlot {
        let provider: Provider
        let policy: ProviderPolicy
        let delivered: LoopKeySnapshot
        /// Whom to ask for newer keys.
        let source: KeySource
        /// The loop's copies of the keys of all issuers; `nil` unless this is an entry with many.
        let issuers: LoopIssuers?
        /// `nil` if the provider's tokens are not opaque.
        let opaqueTokens: OpaqueTokenRules?
        /// Where to note that a signature has held; `nil` unless this is one of an entry's many issuers.
        private let use: IssuerUse?
        /// Whether the audiences are a resource's, which holds for all issuers of the entry.
        let hasAudiencesOfResource: Bool
        var keys: LoopKeySnapshot.Latest? { delivered.latest }
        /// Differs between the slots of a verifier, which keeps them all.
        var identity: ObjectIdentifier { ObjectIdentifier(self) }

        /// The keys, unless they are too old to be used.
        func keys(usableAt now: MonotonicTime) -> LoopKeySnapshot.Latest? {
            guard let keys, now <= keys.usableUntil else { return nil }
            return keys
        }

        convenience init(_ provider: Provider, _ delivered: LoopKeys) {
            let (policy, rules) = (provider.policy, OpaqueTokenRules(provider))
            switch delivered {
            case .one(let snapshot, let store): self.init(provider, policy, snapshot, .store(store), rules)
            case .many(let all):
                let source = KeySource.pool(all.pool, issuer: "", reader: nil)
                self.init(provider, policy, LoopKeySnapshot(), source, rules, issuers: all)
            }
        }

        /// The same provider, whose tokens must have one of these audiences instead, whatever their issuer.
        convenience init(_ other: ProviderSlot, audiences: [String]) {
            var policy = other.policy
            policy.audiences = audiences
            self.init(
                other.provider, policy, other.delivered, other.source, other.opaqueTokens, issuers: other.issuers,
                use: other.use, hasAudiencesOfResource: true)
        }

        /// The defaults, but for `use`, are those of one of an entry's many issuers.
        init(
            _ provider: Provider, _ policy: ProviderPolicy, _ delivered: LoopKeySnapshot, _ source: KeySource,
            _ opaqueTokens: OpaqueTokenRules? = nil, issuers: LoopIssuers? = nil, use: IssuerUse? = nil,
            hasAudiencesOfResource: Bool = false
        ) {
            self.provider = provider
            self.policy = policy
            self.delivered = delivered
            self.source = source
            self.opaqueTokens = opaqueTokens
            self.issuers = issuers
            self.use = use
            self.hasAudiencesOfResource = hasAudiencesOfResource
        }

        /// Notes that a signature has held under the keys.
        @inline(__always)
        func noteUse(at now: MonotonicTime) { use?.note(at: now) }
    }

    /// - Parameters:
    ///   - providers: indexed by number, as in verdicts; `nil` for numbers without a provider.
    ///   - decryptions: `nil` if nothing else runs on the loop.
    package init(
        _ providers: [(provider: Provider, keys: LoopKeys)?], by verifier: IDTokenVerifier, resources: [Resource] = [],
        decryptions: DecryptionQueue? = nil
    ) {
        let slots = providers.map { $0.map { ProviderSlot($0.provider, $0.keys) } }
        self.slots = slots
        self.verifier = verifier
        self.decryptions = decryptions
        ofPlainIDTokens = ProviderIndex(slots) { $0.accessTokens == nil && !$0.mustEncrypt(.idToken) }
        ofIDTokens = ProviderIndex(slots) { $0.accessTokens == nil }
        let ofAccessTokens = ProviderIndex(slots) { $0.accessTokens != nil && $0.introspector == nil }
        self.ofAccessTokens = ofAccessTokens
        let ofOpaqueTokens = ProviderIndex(slots) { $0.introspector != nil }
        self.ofOpaqueTokens = ofOpaqueTokens
        self.resources = resources.map { resource in
            ServedResource(resource, slots) { ofAccessTokens.named($0) ?? ofOpaqueTokens.named($0) }
        }
        ofNotificationIssuers = Dictionary(
            slots.enumerated().flatMap { number, slot in
                (slot?.provider.notifications?.issuers ?? []).map { (ExactString($0), number) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The providers with one issuer each, and their keys.
    package var singleIssuers: [(number: Int, provider: Provider, keys: LoopKeySnapshot)] {
        slots.enumerated().compactMap { number, slot in
            guard let slot, slot.issuers == nil else { return nil }
            return (number, slot.provider, slot.delivered)
        }
    }

    /// All providers, in the order of their numbers.
    package var providers: [Provider] { slots.compactMap { $0?.provider } }

    /// A provider of any kind of token.
    package func provider(_ id: String) -> (number: Int, provider: Provider)? {
        guard let number = ofIDTokens.named(id) ?? ofAccessTokens.named(id) ?? ofOpaqueTokens.named(id),
            let slot = slots[number]
        else { return nil }
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
            return try verify(
                token, request, index, slot.slot(for: token, request.connection, of: .idToken), now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    /// - Parameter slot: of the token's issuer.
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
        try attempt(token, index, slot, now, of: .idToken) { () throws(Rejection) in
            try token.checkClaims(of: slot.policy, now: now.wall)
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
            return (try UnverifiedToken(padded: text, upTo: verifier.maximumTokenLength), named)
        }
        do throws(Rejection) {
            let token = try verifier.read(text)
            return (token, named ?? token.unverifiedIssuer.flatMap { providers.withIssuer($0, slots) })
        } catch {
            guard named == nil, providers.hasLoadBalancers,
                let token = try? UnverifiedToken(padded: text, upTo: verifier.maximumTokenLength),
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
        let others = isAccessToken ? [ofIDTokens] : [ofAccessTokens, ofOpaqueTokens]
        let hasOther = others.contains { other in
            if let named { return other.named(named) != nil }
            return issuer.flatMap { other.withIssuer($0, slots) } != nil
        }
        guard hasOther else { return unknownProvider(named: named) }
        return isAccessToken ? .providerOfIDTokens : .providerOfAccessTokens
    }

    /// Whether the next DPoP proof of a client needs a nonce.
    ///
    /// - Parameters:
    ///   - use: of the resource or policy that the request is for.
    ///   - number: of the token's provider. `nil` if it is not known: its next token may be any provider's.
    ///   - names: the IDs of the providers whose tokens the resource or policy accepts; empty: there is neither.
    package func needsProofNonce(
        _ use: ProofUse, ofProvider number: Int?, among names: [String], under rules: ProofRules
    ) -> Bool {
        let needsNonce = { (provider: Provider?) in
            use.needsNonce(beside: provider?.accessTokens?.proofUse ?? ProofUse(), under: rules)
        }
        if let number { return needsNonce(slots[number]?.provider) }
        guard !names.isEmpty else { return needsNonce(nil) }
        return slots.contains { slot in
            slot.map { names.containsExactly($0.policy.id) && needsNonce($0.provider) } ?? false
        }
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
    /// The rules for a provider's tokens.
    ///
    /// - Parameter connection: the request's, for a provider with `issuers: any`.
    /// - Returns: `nil` if there is no such provider.
    /// - Throws: ``Problem/requestInvalid(_:)`` if the connection is missing, or can't be used.
    package func policy(
        ofProvider number: Int, _ connection: Connection? = nil
    ) throws(Problem) -> ProviderPolicy? {
        guard let slot = slots[number] else { return nil }
        return try slot.slot(ofConnection: connection).policy
    }

    /// The endpoints of the provider's discovery document; `nil` if none has been read yet.
    ///
    /// - Parameter connection: the request's, for a provider with `issuers: any`.
    package func discoveredEndpoints(
        ofProvider number: Int, _ connection: Connection? = nil
    ) -> DiscoveredEndpoints? {
        guard let slot = slots[number] else { return nil }
        guard let connection else { return slot.delivered.endpoints }
        return slot.issuers?[connection.issuer]?.delivered.endpoints
    }
}
