private import Bytes
internal import IDToken
private import JOSE
private import OAuth
internal import Verification

/// Signed responses of the authorization endpoint (JARM).
extension Operation {
    /// Waits for the verdict on a signed response.
    func verdict(
        on response: ResponseRequest, _ outcome: RequestVerifier.Outcome<VerifiedResponse>
    ) async -> Verdict<VerifiedResponse> {
        switch outcome {
        case .decided(let verdict): verdict
        case .pending(let wait):
            await verifier.verdict(after: wait, until: keysDeadline) { verifier.verify(response, at: $0) }
        }
    }
}

extension SignIn {
    /// The signed response that finishes the sign-in; `nil` if it needs none, or can't be finished any more.
    ///
    /// - Throws: ``Problem/responseInvalid(_:)``, ``Problem/requestInvalid(_:)``.
    func signedResponse(
        _ request: FinishRequest, _ policy: ProviderPolicy
    ) throws(Problem) -> ArraySlice<UInt8>? {
        guard case .browser(let browser) = kind, browser.requested?.responseIsSigned == true,
            policy.audiences.containsExactly(audience)
        else { return nil }
        return try request.browserResponse().signedResponse()
    }
}

extension Verdict<VerifiedResponse> {
    /// - Throws: ``Problem``.
    func response() throws(Problem) -> VerifiedResponse {
        switch self {
        case .verified(let response, _): return response
        case .refused(let problem, _): throw problem.ofResponse
        }
    }
}
