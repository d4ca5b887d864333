internal import HTTP
internal import IDToken
private import SignIns
internal import Verification

/// DPoP proofs are claimed when nothing else can refuse the token, so a rejected one uses none up.
extension ServiceResponder {
    /// Claims a proof: at once if the store is in memory. Otherwise nothing is claimed before the wait begins, so that a
    /// request that is shed uses no proof up.
    ///
    /// - Parameters:
    ///   - provider: the number of the token's provider.
    ///   - deadline: how long to wait for the store, if it is sooner than the store's own timeout.
    /// - Returns: why the token is rejected; `nil` if it is not.
    func problem(
        claiming proof: DPoPProof, ofProvider provider: Int, until deadline: MonotonicTime? = nil
    ) -> Reply<Problem?, Never> {
        do throws(Problem) {
            guard let store = service.proofStore else { throw .storeUnavailable(isSpent: false) }
            let claim = try proof.claim(ofProvider: service.providerIDs[provider], store.digests)
            switch store.attempt(claim, until: deadline) {
            case .now(let made): return .now(problem(counting: made))
            case .later(let begin):
                return .later { self.problem(counting: await ClaimStore.Attempt.later(begin).made()) }
            }
        } catch {
            return .now(error)
        }
    }

    private func problem(counting made: ClaimStore.Made) -> Problem? {
        service.metrics.proofClaims.count(made)
        return DPoPProof.problem(made.outcome)
    }
}
