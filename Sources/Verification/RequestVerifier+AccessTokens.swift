internal import AccessTokens
internal import IDToken
private import JOSE
private import KeySource

/// Verifies access tokens. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Verifies an access token: the request, the token's form, then all checks.
    package func verify(_ request: AccessTokenRequest, at now: VerificationTime) -> Outcome<AccessTokenAnswer> {
        var index = request.provider.flatMap(ofAccessTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw noProvider(named: named, ofAccessTokens: true) }
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try read(request.token, ofProvider: index, among: ofAccessTokens)
            } catch {
                throw .rejected(error, of: .accessToken)
            }
            guard let index, let slot = slots[index], let dialect = slot.provider.accessTokens else {
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            return try verify(token, request, dialect, index, slot, now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verify(
        _ token: UnverifiedToken, _ request: AccessTokenRequest, _ dialect: AccessTokenDialect, _ index: Int,
        _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<AccessTokenAnswer> {
        try request.check(against: slot.policy)
        return try attempt(accessToken: token, dialect, index, slot, now, request.parameters) { token, keys in
            AccessTokenAnswer(
                token: token, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
        }
    }

    /// - Parameter answer: creates the answer from a verified token and the keys that verified it.
    /// - Throws: ``Problem/rejected(_:of:)``.
    @inline(__always)
    func attempt<Answer>(
        accessToken token: UnverifiedToken, _ dialect: AccessTokenDialect, _ index: Int, _ slot: ProviderSlot,
        _ now: VerificationTime, _ parameters: AccessTokenParameters,
        answer: (consuming VerifiedAccessToken, LoopKeySnapshot.Latest) -> Answer
    ) throws(Problem) -> Outcome<Answer> {
        try attempt(token, index, slot, now, of: .accessToken) {
            token.wouldPassClaims(ofAccessTokenUnder: slot.policy, dialect, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try verifier.jwsVerifier.checkAccessTokenHeader(
                token, allowing: slot.policy.algorithms ?? .all, dialect)
        } verifying: { keys throws(Rejection) in
            let verified = try verifier.jwsVerifier.verifyAccessToken(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, dialect,
                expecting: parameters, now: now.wall)
            if dialect.loadBalancer != nil, let keyID = token.keyID, keys.snapshot.isUnproven(keyID) {
                slot.provider.keys.prove(keyID)
            }
            return answer(verified, keys)
        }
    }
}
