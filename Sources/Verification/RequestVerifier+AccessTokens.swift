private import AccessTokens
package import Host
private import IDToken
private import JOSE
private import KeySource
package import NIOCore

/// Verifies access tokens, with the keys and the waiting of ID Tokens.
extension RequestVerifier {
    /// Whether any provider's access tokens are verified.
    package var acceptsAccessTokens: Bool { slots.contains { $0?.provider.accessTokens != nil } }

    /// Verifies an access token: the request, the token's form, then all checks.
    package func verify(_ request: AccessTokenRequest, at now: VerificationTime) -> AccessTokenOutcome {
        switch attempt(request, at: now) {
        case .decided(let verdict): .decided(verdict)
        case .waiting(let wait): .pending(PendingAccessToken(request: request, wait: wait))
        }
    }

    /// A verdict, or an access token that has to wait for keys.
    package enum AccessTokenOutcome {
        case decided(AccessTokenVerdict)
        case pending(PendingAccessToken)
    }

    /// An access token whose verdict could change with newer keys.
    package struct PendingAccessToken {
        let request: AccessTokenRequest
        let wait: KeyWait
    }

    /// Waits for the provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameter loop: this verifier's event loop.
    package func waitForKeys(
        _ pending: PendingAccessToken, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<AccessTokenVerdict> {
        wait(pending.wait, until: deadline, on: loop) { problem in
            .refused(problem, provider: pending.wait.provider)
        } verifyingAgain: {
            self.attempt(pending.request, at: .now())
        }
    }

    private func attempt(_ request: AccessTokenRequest, at now: VerificationTime) -> Attempt<AccessTokenVerdict> {
        var index = request.provider.flatMap(ofAccessTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw noProvider(named: named, ofAccessTokens: true) }
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try readAccessToken(request.token, ofProvider: index)
            } catch {
                throw .accessTokenRejected(error)
            }
            guard let index, let slot = slots[index], let dialect = slot.provider.accessTokens else {
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            try request.check(against: slot.policy)
            return try attempt(token, request, dialect, index, slot, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// - Throws: ``Problem/accessTokenRejected(_:)``.
    private func attempt(
        _ token: UnverifiedToken, _ request: AccessTokenRequest, _ dialect: AccessTokenDialect, _ index: Int,
        _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Attempt<AccessTokenVerdict> {
        let policy = slot.policy
        let jwsVerifier = verifier.jwsVerifier
        return try attempt(token, index, slot, now, refused: Problem.accessTokenRejected) {
            token.wouldPassClaims(ofAccessTokenUnder: policy, dialect, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try jwsVerifier.checkAccessTokenHeader(token, allowing: policy.algorithms ?? .all, dialect)
        } verifying: { keys throws(Rejection) in
            let verified = try jwsVerifier.verifyAccessToken(
                token, with: keys.keys, algorithms: keys.algorithms, under: policy, dialect,
                expecting: request.parameters, now: now.wall)
            let answer = AccessTokenAnswer(
                token: verified, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
            return .verified(answer, provider: index)
        }
    }
}
