private import HTTP
public import IDToken
private import JOSE
private import Keys
private import NIOCore

extension ProviderVerifier {
    /// Verifies a token with the provider's keys as they are now, or with newer ones if they could change the result.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the keys of this verifier's provider.
    ///   - parameters: what the relying party knows about this sign-in.
    ///   - now: for checks of the token's times; `nil`: this machine's time.
    ///   - limit: the longest time to wait for keys.
    /// - Throws: ``Rejection`` if the token is refused; ``KeysUnavailable`` if nobody can tell whether it is valid.
    public func verify(
        _ token: String, with keys: RemoteKeySet,
        expecting parameters: VerificationParameters = VerificationParameters(),
        now: UnixTime? = nil, waitingFor limit: Duration = .seconds(5)
    ) async throws -> VerifiedIDToken {
        try await verify(token, keys, parameters, now, limit)
    }
}

extension AccessTokenVerifier {
    /// Verifies a token with the provider's keys as they are now, or with newer ones if they could change the result.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the keys of this verifier's provider.
    ///   - parameters: what the request needs, and what it has besides the token.
    ///   - now: for checks of the times in the token and in its proof; `nil`: this machine's time.
    ///   - limit: the longest time to wait for keys.
    /// - Throws: ``Rejection`` if the token is refused; ``KeysUnavailable`` if nobody can tell whether it is valid.
    public func verify(
        _ token: String, with keys: RemoteKeySet,
        expecting parameters: AccessTokenParameters = AccessTokenParameters(),
        now: UnixTime? = nil, waitingFor limit: Duration = .seconds(5)
    ) async throws -> VerifiedAccessToken {
        try await verify(token, keys, parameters, now, limit)
    }
}

extension NotificationVerifier {
    /// Verifies a notification with the provider's keys as they are now, or with newer ones if they could change the
    /// result.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the keys of this verifier's provider.
    ///   - now: for checks of the token's times; `nil`: this machine's time.
    ///   - limit: the longest time to wait for keys.
    /// - Throws: ``Rejection`` if the token is refused; ``KeysUnavailable`` if nobody can tell whether it is valid. Let
    ///   the sender repeat the delivery then.
    public func verify(
        _ token: String, with keys: RemoteKeySet, now: UnixTime? = nil, waitingFor limit: Duration = .seconds(5)
    ) async throws -> VerifiedNotification {
        try await verify(token, keys, (), now, limit)
    }
}

extension SharedVerifier {
    /// - Throws: ``Rejection``, ``KeysUnavailable``.
    fileprivate func verify(
        _ token: String, _ keys: RemoteKeySet, _ parameters: Parameters, _ now: UnixTime?, _ limit: Duration
    ) async throws -> Verified {
        let token = try verifiers.withVerifier { verifier throws(Rejection) in
            try read(Array(token.utf8)[...], by: verifier)
        }
        let deadline = SystemClocks.monotonic() + Interval(limit)
        var isLast = false
        while true {
            let snapshot = keys.snapshot
            let doubt: Doubt
            do throws(Doubt) {
                return try verify(token, keys, snapshot, parameters, at: now ?? .current)
            } catch {
                doubt = error
            }
            guard !isLast, let need = doubt.need else { throw doubt.error }
            let outcome = await keys.wait(for: need, judgedBy: snapshot?.version ?? 0, until: deadline)
            // This ends: each round has newer keys, and the deadline applies to all of them.
            switch outcome {
            case .retry: continue
            case .unchanged: throw doubt.error
            case .unavailable(let retryAfter):
                // A rejection would be final, but the token may be valid: its key could not be fetched.
                throw doubt.isMissingKey ? KeysUnavailable(retryAfter) : doubt.error
            // A key that is still missing does not exist.
            case .refreshed: isLast = true
            }
        }
    }

    /// Verifies with one version of the keys.
    private func verify(
        _ token: UnverifiedToken, _ remote: RemoteKeySet, _ snapshot: KeySnapshot?, _ parameters: Parameters,
        at now: UnixTime
    ) throws(Doubt) -> Verified {
        let monotonic = SystemClocks.monotonic()
        guard let snapshot, snapshot.isUsable(at: monotonic) else {
            throw refusalWithoutKeys(of: token, at: now).map(Doubt.init(settledBy:)) ?? .withoutKeys
        }
        do throws(Rejection) {
            let verified = try verifiers.withVerifier { verifier throws(Rejection) in
                try verify(
                    token, with: snapshot.keys, algorithms: snapshot.algorithms, expecting: parameters, now: now,
                    by: verifier)
            }
            if let keyID = token.keyID, snapshot.isUnproven(keyID) { remote.store.prove(keyID) }
            return verified
        } catch {
            let need = error.keyFault.flatMap {
                snapshot.need(
                    after: $0, keyID: token.keyID,
                    mayAllowAlgorithm: provider.algorithms == nil && token.algorithm != nil, at: monotonic)
            }
            // Junk must not cause requests to the provider.
            guard let need, (try? checkClaims(token, now: now)) != nil else { throw Doubt(settledBy: error) }
            let isMissingKey = error == .keyNotFound || !(token.keyID.map(snapshot.hasKey) ?? true)
            throw Doubt(error: error, need: need, isMissingKey: isMissingKey)
        }
    }

    /// Why a token is refused whatever the keys are; `nil` if keys could verify it.
    private func refusalWithoutKeys(of token: UnverifiedToken, at now: UnixTime) -> Rejection? {
        do throws(Rejection) {
            try verifiers.withVerifier { verifier throws(Rejection) in try checkHeader(token, by: verifier) }
            try checkClaims(token, now: now)
            return nil
        } catch {
            return error
        }
    }
}

/// A verification that failed, perhaps only for want of keys.
private struct Doubt: Error {
    let error: any Error
    /// The fetch that could change the result; `nil` if none could.
    let need: KeyStore.StateMachine.FetchReason?
    /// Whether the token's key may have been published since the last fetch.
    let isMissingKey: Bool
}

extension Doubt {
    init(settledBy rejection: Rejection) { self.init(error: rejection, need: nil, isMissingKey: false) }

    static let withoutKeys = Doubt(
        error: KeysUnavailable(.seconds(1)), need: .anyKeys(mayFetch: true), isMissingKey: true)
}

extension RemoteKeySet {
    /// Waits until the needed keys arrive, or can't.
    fileprivate func wait(
        for need: KeyStore.StateMachine.FetchReason, judgedBy version: Int, until deadline: MonotonicTime
    ) async -> KeyStore.StateMachine.Outcome {
        let outcome = restored().flatMap { self.store.wait(for: need, judgedBy: version, until: deadline) }
        return (try? await outcome.get()) ?? .unavailable(retryAfter: .seconds(1))
    }
}

extension KeysUnavailable {
    fileprivate init(_ retryAfter: Interval) { self.init(retryAfter: .milliseconds(retryAfter.milliseconds)) }
}

extension UnixTime {
    fileprivate static var current: UnixTime { UnixTime(seconds: SystemClocks.unixSeconds()) }
}
