internal import IDToken
private import SignIns
internal import Verification

/// DPoP proofs are claimed when nothing else can refuse the token, so a rejected one uses none up.
extension ServiceResponder {
    /// The verdict after the token's proof has been claimed.
    func claimingProof(of verdict: Verdict<AccessTokenAnswer>) async -> Verdict<AccessTokenAnswer> {
        guard let proof = newProof(in: verdict), let provider = verdict.provider else { return verdict }
        do throws(Problem) {
            guard let store = service.proofStore else { throw .storeUnavailable(isSpent: false) }
            let claim = try proof.claim(ofProvider: service.providerIDs[provider], store.digests)
            return verdict.unless(DPoPProof.problem(await store.attempt(claim).made().outcome))
        } catch {
            return verdict.unless(error)
        }
    }

    /// The proof that a verified token came with, if it must be new.
    func newProof(in verdict: Verdict<AccessTokenAnswer>) -> DPoPProof? {
        service.settings.remembersProofs ? verdict.answer?.token.binding?.proof : nil
    }
}
