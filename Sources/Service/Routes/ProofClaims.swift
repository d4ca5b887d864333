internal import HTTP
internal import IDToken
private import SignIns
internal import Verification

/// DPoP proofs are claimed when nothing else can refuse the token, so a rejected one uses none up.
extension ServiceResponder {
    /// Claims a proof.
    ///
    /// - Parameters:
    ///   - provider: the number of the token's provider.
    ///   - deadline: how long to wait for the store, if it is sooner than the store's own timeout.
    /// - Returns: why the token is rejected; `nil` if it is not.
    func problem(
        claiming proof: DPoPProof, ofProvider provider: Int, until deadline: MonotonicTime? = nil
    ) async -> Problem? {
        do throws(Problem) {
            guard let store = service.proofStore else { throw .storeUnavailable(isSpent: false) }
            let claim = try proof.claim(ofProvider: service.providerIDs[provider], store.digests)
            let made = await store.attempt(claim, until: deadline).made()
            service.metrics.proofClaims.count(made)
            return DPoPProof.problem(made.outcome)
        } catch {
            return error
        }
    }
}
