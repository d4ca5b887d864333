internal import AccessTokens
internal import IDToken
private import JOSE

/// Verifies access tokens. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Whether any provider's access tokens are verified.
    package var acceptsAccessTokens: Bool { slots.contains { $0?.provider.accessTokens != nil } }

    /// Verifies an access token: the request, the token's form, then all checks.
    package func verify(_ request: AccessTokenRequest, at now: VerificationTime) -> TokenOutcome<AccessTokenAnswer> {
        outcome(at: now) { self.attempt(request, at: $0) }
    }

    private func attempt(_ request: AccessTokenRequest, at now: VerificationTime) -> Attempt<
        TokenVerdict<AccessTokenAnswer>
    > {
        var index = request.provider.flatMap(ofAccessTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw noProvider(named: named, ofAccessTokens: true) }
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try read(request.token, ofProvider: index, among: ofAccessTokens)
            } catch {
                throw .accessTokenRejected(error)
            }
            guard let index, let slot = slots[index], let dialect = slot.provider.accessTokens else {
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            try request.check(against: slot.policy)
            return try attempt(accessToken: token, dialect, index, slot, now, request.parameters) { token, keys in
                let answer = AccessTokenAnswer(
                    token: token, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
                return .verified(answer, provider: index)
            }
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// - Parameter answer: makes the answer of a verified token and the keys that verified it.
    /// - Throws: ``Problem/accessTokenRejected(_:)``.
    func attempt<Answer: Sendable>(
        accessToken token: UnverifiedToken, _ dialect: AccessTokenDialect, _ index: Int, _ slot: ProviderSlot,
        _ now: VerificationTime, _ parameters: AccessTokenParameters,
        answer: (VerifiedAccessToken, LoopKeySnapshot.Latest) -> Answer
    ) throws(Problem) -> Attempt<Answer> {
        let policy = slot.policy
        let jwsVerifier = verifier.jwsVerifier
        return try attempt(token, index, slot, now, refused: Problem.accessTokenRejected) {
            token.wouldPassClaims(ofAccessTokenUnder: policy, dialect, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try jwsVerifier.checkAccessTokenHeader(token, allowing: policy.algorithms ?? .all, dialect)
        } verifying: { keys throws(Rejection) in
            let verified = try jwsVerifier.verifyAccessToken(
                token, with: keys.keys, algorithms: keys.algorithms, under: policy, dialect,
                expecting: parameters, now: now.wall)
            return answer(verified, keys)
        }
    }
}
