internal import Clocks
package import IDToken
internal import JOSE
private import JSON
package import KeySource

/// What became of one request.
package enum Verdict {
    case verified(VerifyAnswer, provider: Int)
    case refused(Problem, provider: Int?)
}

/// A moment by both clocks.
package struct Moment {
    /// What keys grow old by.
    let monotonic: MonotonicTime
    /// What tokens speak of.
    let wall: UnixTime

    package static func now() -> Moment {
        Moment(monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}

/// A provider's keys as one event loop last heard of them. Confined to that loop.
///
/// An object of its own, since it outlasts the settings: whatever they make of the provider, its keys stay what they are.
package final class DeliveredKeys {
    fileprivate var latest: Verifications.Keys?

    package init() {}

    /// Takes over the provider's new keys.
    package func install(_ snapshot: KeySnapshot) { latest = Verifications.Keys(snapshot) }

    var snapshot: KeySnapshot? { latest?.snapshot }
}

/// The verifications of one event loop under one configuration: the verifier, the providers, and their keys as this loop
/// last heard of them.
///
/// Confined to its loop: a new snapshot is delivered to it, so that verifying reads plain variables and takes no lock. Other
/// settings make other verifications, and a request that waits goes on with those it began with.
package final class Verifications {
    /// By number; `nil` where the provider is not configured any more.
    private let places: [Place?]
    let verifier: IDTokenVerifier
    private let indicesByID: [ExactString: Int]
    private let indicesByIssuer: [ExactString: Int]
    /// The providers whose issuers can't be listed, since they take tokens of any tenant.
    private let indicesOfAnyTenant: [Int]

    /// A provider, and its keys as this loop last heard of them.
    ///
    /// An object of this loop's own: a policy and a snapshot are structures of many parts, and each copy of one would count
    /// references, some of them to what the other loops count as well.
    private final class Place {
        let provider: Provider
        let policy: ProviderPolicy
        let delivered: DeliveredKeys
        var keys: Keys? { delivered.latest }

        init(_ provider: Provider, _ delivered: DeliveredKeys) {
            self.provider = provider
            self.delivered = delivered
            policy = provider.policy
        }
    }

    fileprivate final class Keys {
        let snapshot: KeySnapshot
        /// Those of the snapshot.
        let keys: JWKSet
        let algorithms: SignatureAlgorithms
        let usableUntil: MonotonicTime

        init(_ snapshot: KeySnapshot) {
            self.snapshot = snapshot
            keys = snapshot.keys.copied()
            algorithms = snapshot.algorithms
            usableUntil = snapshot.usableUntil
        }

        func used(at now: MonotonicTime) -> KeysUsed {
            KeysUsed(snapshot.source, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil, now: now)
        }
    }

    /// What a request lacks, and the version of the keys that it was judged by.
    package struct KeyNeed {
        let keys: KeyStore
        let need: KeyStore.StateMachine.Need
        let version: Int
        /// Whether the provider may have published the key meanwhile: where it can't be asked, nothing can be said of the
        /// token. If not, the keys at hand decide.
        let lacksKey: Bool
    }

    /// A verdict, or what is needed for one.
    package enum Attempt {
        case decided(Verdict)
        /// Keys might be had that decide otherwise; `otherwise` is the verdict if they can't.
        case needsKeys(KeyNeed, provider: Int, otherwise: Problem)
    }

    /// - Parameter providers: by the number under which a verdict names them; `nil` where there is none.
    package init(_ providers: [(provider: Provider, keys: DeliveredKeys)?], by verifier: IDTokenVerifier) {
        places = providers.map { $0.map { Place($0.provider, $0.keys) } }
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
    var providers: [(number: Int, provider: Provider, snapshot: KeySnapshot?)] {
        places.enumerated().compactMap { number, place in
            place.map { (number, $0.provider, $0.delivered.snapshot) }
        }
    }

    func provider(_ id: String) -> (number: Int, provider: Provider)? {
        guard let number = indicesByID[ExactString(id)], let place = places[number] else { return nil }
        return (number, place.provider)
    }

    func provider(ofIssuer issuer: String) -> (number: Int, provider: Provider)? {
        guard let number = index(ofIssuer: issuer), let place = places[number] else { return nil }
        return (number, place.provider)
    }

    /// The provider that tokens with this issuer are from.
    private func index(ofIssuer issuer: String) -> Int? {
        indicesByIssuer[ExactString(issuer)]
            ?? indicesOfAnyTenant.first { places[$0]?.policy.isIssuer(issuer) == true }
    }

    /// Verifies one token, in the order of the contract: request, form, then everything that the verifier checks.
    package func verify(_ request: VerifyRequest, at now: Moment) -> Attempt {
        var index = request.provider.flatMap { indicesByID[ExactString($0)] }
        if request.provider != nil, index == nil { return .decided(.refused(.providerUnknown, provider: nil)) }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return .decided(.refused(.rejected(error), provider: index))
        }
        if index == nil { index = token.unverifiedIssuer.flatMap(self.index(ofIssuer:)) }
        guard let index, let place = places[index] else {
            return .decided(.refused(.providerUnknown, provider: nil))
        }
        return verify(token, request, index, place, now)
    }

    private func verify(
        _ token: UnverifiedToken, _ request: VerifyRequest, _ index: Int, _ place: Place, _ now: Moment
    ) -> Attempt {
        if let audience = request.expectations.audience,
            !place.policy.audiences.containsExactly(audience)
        {
            return .decided(.refused(.audienceNotConfigured, provider: index))
        }
        guard let keys = place.keys, now.monotonic <= keys.usableUntil else {
            return verdictWithoutKeys(token, index, place, now.wall)
        }
        do throws(Rejection) {
            let verified = try verifier.verify(
                token, with: keys.keys, algorithms: keys.algorithms, under: place.policy,
                expecting: request.expectations, now: now.wall)
            let answer = VerifyAnswer(
                token: verified, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
            return .decided(.verified(answer, provider: index))
        } catch {
            if let need = need(after: error, token, keys.snapshot, place.policy, now.monotonic),
                token.wouldPassClaims(of: place.policy, now: now.wall)
            {
                let lacksKey = error == .keyNotFound || !(token.keyID.map(keys.snapshot.hasKey) ?? true)
                let need = KeyNeed(
                    keys: place.provider.keys, need: need, version: keys.snapshot.version, lacksKey: lacksKey)
                return .needsKeys(need, provider: index, otherwise: .rejected(error))
            }
            return .decided(.refused(.rejected(error), provider: index))
        }
    }

    /// There are no keys: what can be refused without them is, and nothing has them fetched that could not pass with them.
    private func verdictWithoutKeys(
        _ token: UnverifiedToken, _ index: Int, _ place: Place, _ now: UnixTime
    ) -> Attempt {
        let policy = place.policy
        do throws(Rejection) {
            try verifier.checkHeader(token, under: policy)
        } catch {
            return .decided(.refused(.rejected(error), provider: index))
        }
        let unavailable = Problem.keysUnavailable(retryAfterSeconds: 1)
        let mayFetch = token.wouldPassClaims(of: policy, now: now)
        let need = KeyNeed(
            keys: place.provider.keys, need: .anyKeys(mayFetch: mayFetch), version: place.keys?.snapshot.version ?? 0,
            lacksKey: true)
        return .needsKeys(need, provider: index, otherwise: unavailable)
    }

    /// What newer keys might hold, if a rejection is for want of it.
    ///
    /// A token that names no key has its signature tried with those that fit; if none of them made it, the provider may have
    /// changed its key without anything in the token to tell. A provider may also put another key, or one of another type,
    /// in place of the one that a token names. And where the provider's own document says which algorithms it uses, it may
    /// have begun to use another.
    private func need(
        after rejection: Rejection, _ token: UnverifiedToken, _ snapshot: KeySnapshot, _ policy: ProviderPolicy,
        _ now: MonotonicTime
    ) -> KeyStore.StateMachine.Need? {
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
