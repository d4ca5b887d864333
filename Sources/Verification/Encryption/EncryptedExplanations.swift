internal import HTTP
internal import IDToken
private import Keys
private import NIOCore
internal import TokenDiagnostics

/// Explanations of encrypted tokens.
extension RequestVerifier {
    /// A request for an encrypted token: opened, or why it was not.
    enum OpenedRequest<Request> {
        case plain(Request)
        case opened(Request)
        case refused(Problem, provider: Int?)
    }

    /// Opens the token of a request that is to be explained, if it is encrypted.
    ///
    /// - Parameters:
    ///   - verify: the verification of the request.
    ///   - inside: the same request for the token inside.
    func opened<Request, Answer>(
        _ request: Request, verifying verify: (VerificationTime) -> Outcome<Answer>,
        inside: (OpenedToken) -> Request
    ) async -> OpenedRequest<Request> {
        switch verify(.now()) {
        case .pending(.opening(let opening)):
            do throws(Problem) {
                return .opened(inside(try await open(opening, isPaidFor: false)))
            } catch {
                return .refused(error, provider: opening.provider)
            }
        case .decided(.refused(.encryption(let fault), let provider)):
            return .refused(.encryption(fault), provider: provider)
        case .decided(.refused(.requestInvalid(let text), let provider)):
            return .refused(.requestInvalid(text), provider: provider)
        case .decided, .pending(.keys): return .plain(request)
        }
    }

    /// Explains a request, after its token has been opened if it is encrypted.
    ///
    /// - Parameters:
    ///   - text: the token, as it was sent.
    ///   - names: the checks of its kind.
    ///   - explain: explains a request whose token is signed.
    func explained<Request>(
        _ request: OpenedRequest<Request>, _ text: ArraySlice<UInt8>, _ names: [CheckName],
        by explain: (Request) async -> Explained
    ) async -> Explained {
        switch request {
        case .plain(let request): return await explain(request)
        case .opened(let request):
            let explained = await explain(request)
            return Explained(
                answer: explained.answer.map { $0.concealed(inside: text) }, provider: explained.provider)
        case .refused(let problem, let provider):
            // An error of the request or the instance, not of the token.
            guard case .encryption = problem else { return Explained(answer: .failure(problem), provider: provider) }
            let slot = provider.flatMap { slots[$0] }
            let status = await slot?.source.status()
            let explanation = Explanation(
                unopened: text, names, code: problem.code, detail: problem.detail)
            return Explained(
                answer: .success(
                    ExplainAnswer(
                        explanation: explanation, provider: slot?.policy.id, keys: status,
                        time: SystemClocks.unixSeconds())), provider: provider)
        }
    }
}

extension ExplainAnswer {
    fileprivate func concealed(inside text: ArraySlice<UInt8>) -> ExplainAnswer {
        ExplainAnswer(
            explanation: explanation.concealed(inside: text), provider: provider, keys: keys, time: time)
    }
}
