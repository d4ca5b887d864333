private import Bytes
package import HTTP
package import IDToken
private import JOSE
package import NIOCore
package import OpenSSL
package import Verification

/// One event loop's access to the store for single-use claims. Confined to that loop.
///
/// It also refuses what this process has seen refused, after the store itself has forgotten it.
package final class ClaimStore {
    private let store: any ReplayStore
    private let refused: RefusedClaims
    /// For computing the keys of claims.
    package let digests: DigestContext
    /// How many providers use the store.
    package var providerCount: Int
    private let loop: any EventLoop

    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(
        in store: any ReplayStore, _ refused: RefusedClaims, on loop: any EventLoop, providerCount: Int
    ) throws(OpenSSLError) {
        digests = try DigestContext()
        self.store = store
        self.refused = refused
        self.loop = loop
        self.providerCount = providerCount
    }

    /// Closes the store's connections.
    package func end() { store.end() }

    package var status: StoreStatus { store.status(now: .now()) }

    /// Makes a claim. Nothing is claimed before the returned ``Attempt/later(_:)`` is called.
    ///
    /// - Parameter deadline: when to stop waiting, if the store's own timeout ends later.
    package func attempt(_ claim: Claim, until deadline: MonotonicTime? = nil) -> Attempt {
        let now = VerificationTime.now()
        let begunAt = SystemClocks.monotonicMicroseconds()
        switch store.claim(claim, sharedBy: providerCount, now: now) {
        case .now(let outcome): return .now(Made(checked(outcome, of: claim), since: begunAt))
        case .later(let begin):
            return .later {
                let begunAt = SystemClocks.monotonicMicroseconds()
                let outcome = { begin().assumeIsolated().map { self.checked($0, of: claim) }.nonisolated() }
                return self.outcome(of: outcome, until: deadline).map { Made($0, since: begunAt) }
            }
        }
    }

    /// The item may have been refused between the request and its claim. So this comes after the claim: what was
    /// refused was noted before its claim was released.
    private func checked(_ outcome: ClaimOutcome, of claim: Claim) -> ClaimOutcome {
        guard outcome == .claimed, refused.contains(claim.key) else { return outcome }
        _ = store.release(claim, after: .refused, on: loop)
        return .alreadyClaimed
    }

    private func outcome(
        of begin: () -> EventLoopFuture<ClaimOutcome>, until deadline: MonotonicTime?
    ) -> EventLoopFuture<ClaimOutcome> {
        guard let deadline else { return begin() }
        let rest = deadline - SystemClocks.monotonic()
        guard rest > .seconds(0) else { return loop.makeSucceededFuture(.unavailable(mayBeClaimed: false)) }
        // The first result counts.
        let promise = loop.makePromise(of: ClaimOutcome.self)
        let timer = loop.scheduleTask(in: .microseconds(rest.microseconds)) {
            promise.succeed(.unavailable(mayBeClaimed: true))
        }
        begin().whenSuccess { outcome in
            timer.cancel()
            promise.succeed(outcome)
        }
        return promise.futureResult
    }

    /// Releases a claim that was made.
    ///
    /// - Returns: whether the claim is known to be released. Never fails.
    func release(_ claim: Claim, after use: ReleasedUse) -> EventLoopFuture<Bool> {
        if use == .refused { refused.insert(claim.key) }
        return store.release(claim, after: use, on: loop)
    }

    /// A claim that was made, or a function that makes it.
    package enum Attempt {
        case now(Made)
        case later(() -> EventLoopFuture<Made>)

        /// Starts to make the claim, so that several are made at the same time.
        package func started() -> Attempt {
            guard case .later(let begin) = self else { return self }
            let made = begin()
            return .later { made }
        }

        /// Makes the claim if it has not been made yet.
        package func made() async -> Made {
            switch self {
            case .now(let made): return made
            case .later(let begin):
                let begunAt = SystemClocks.monotonicMicroseconds()
                return (try? await begin().get()) ?? Made(.unavailable(mayBeClaimed: true), since: begunAt)
            }
        }
    }

    /// The outcome of a claim.
    package struct Made: Sendable {
        package let outcome: ClaimOutcome
        /// When the claim started and ended, in microseconds of the monotonic clock.
        package let time: Range<Int64>

        fileprivate init(_ outcome: ClaimOutcome, since begunAt: Int64) {
            self.outcome = outcome
            time = begunAt..<max(SystemClocks.monotonicMicroseconds(), begunAt)
        }
    }
}

extension ClaimOutcome {
    /// - Parameter replayed: the problem of what was claimed before.
    /// - Returns: why the request is refused; `nil` if its claim was made.
    func problem(ifClaimedBefore replayed: Problem) -> Problem? {
        switch self {
        case .claimed: nil
        case .alreadyClaimed: replayed
        case .unavailable(let mayBeClaimed): .storeUnavailable(isSpent: mayBeClaimed)
        }
    }
}

/// The state that the sign-ins of one event loop share. Confined to that loop.
package final class LoopSignIns {
    private(set) var sealer: SignInSealer
    package let claims: ClaimStore

    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ keys: HandleKeys, _ claims: ClaimStore) throws(OpenSSLError) {
        sealer = try SignInSealer(keys)
        self.claims = claims
    }

    /// Uses new keys from the next request on.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory; the current keys then stay in use.
    package func change(to keys: HandleKeys) throws(OpenSSLError) { sealer = try SignInSealer(keys) }
}

/// How a backend's own nonce is claimed.
extension SingleUseNonce {
    /// The claim that the first request with this nonce makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        let digest =
            if let writtenDigest { writtenDigest } else {
                try openSSL(digests.digest(Array(nonce.utf8).span, with: .sha256))
            }
        return Claim(
            key: try openSSL(ClaimKey("nonce", of: [Array(provider.utf8), digest], digests)),
            end: ClaimEnd(after: expiresAt.seconds), provider: provider)
    }

    /// The digest that the nonce encodes, if the provider accepts both plain and hashed nonces. An attacker who has
    /// only a token can send the hash in it as a plain nonce. Both forms must then make the same claim.
    private var writtenDigest: [UInt8]? {
        guard match == .plain else { return nil }
        var digest: [UInt8]?
        if accepted.contains(.sha256Hex) { digest = [UInt8](hexadecimal: nonce) }
        if digest?.count != 32, accepted.contains(.sha256Base64URL) {
            digest = Base64URL.decode(Array(nonce.utf8).span)
        }
        return digest?.count == 32 ? digest : nil
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Returns: why the token is rejected; `nil` if it is not.
    package func problem(_ outcome: ClaimOutcome) -> Problem? { outcome.problem(ifClaimedBefore: .nonceReplayed) }
}

/// How a DPoP proof is claimed, so that it passes only once.
extension DPoPProof {
    /// The claim that the first request with this proof makes. The same client may use an ID again at another URL.
    ///
    /// - Parameter provider: the ID of the token's provider.
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    /// - Source: RFC 9449, section 11.1.
    package func claim(ofProvider provider: String, _ digests: borrowing DigestContext) throws(Problem) -> Claim {
        let parts = [keyThumbprint, target, identifier].map { Array($0.utf8) }
        return Claim(
            key: try openSSL(ClaimKey("dpop proof", of: parts, digests)), end: ClaimEnd(after: expiresAt.seconds),
            provider: provider)
    }

    /// - Parameter outcome: the outcome of its claim.
    /// - Returns: why the token is rejected; `nil` if it is not.
    package static func problem(_ outcome: ClaimOutcome) -> Problem? {
        outcome.problem(ifClaimedBefore: .proofReplayed)
    }
}
