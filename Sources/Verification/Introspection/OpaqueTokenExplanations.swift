internal import HTTP
internal import IDToken
private import Keys
internal import NIOCore
internal import OAuth
internal import TokenDiagnostics

/// Explains opaque tokens. The provider is asked in the same cases as for the request itself.
extension RequestVerifier {
    /// - Parameters:
    ///   - isNamed: whether the request named the provider.
    ///   - check: rejects a request that the settings don't allow.
    /// - Returns: with the verdict, for the checks of a policy.
    func explained(
        opaqueToken token: OpaqueToken, expecting parameters: AccessTokenParameters, isNamed: Bool,
        until deadline: MonotonicTime, checking check: (ProviderPolicy) throws(Problem) -> Void = { _ in }
    ) async -> (explained: Explained, token: IntrospectedToken?) {
        var judged: IntrospectedToken?
        do throws(Problem) {
            let question: Question
            switch token {
            case .question(let asked): question = asked
            case .refused(let problem, let provider):
                return (refused(problem, provider: provider), nil)
            }
            try check(question.slot.policy)
            let now = VerificationTime.now()
            let answer: ExplainedAnswer
            do throws(Problem) {
                let introspection = try await self.answer(
                    to: question, timeout: deadline - now.monotonic, until: deadline
                ).get()
                switch introspection.result {
                case .success(.active(let token)): answer = .active(token.introspected)
                case .success(.inactive): throw .rejected(.tokenInactive, of: .opaqueToken)
                case .failure(let failure): throw Problem(failure)
                }
                judged = try? judge(question, introspection, expecting: parameters, now: now)
            } catch {
                answer = .none(code: error.code, Diagnosis(sentence: error.detail))
            }
            let explanation = verifier.explain(
                opaqueToken: question.text, answer, under: question.slot.policy, question.dialect, isNamed: isNamed,
                expecting: parameters, now: now.wall
            ) { $0.detail(of: .opaqueToken) }
            let status = await question.slot.source.status()
            return (
                Explained(
                    answer: .success(
                        ExplainAnswer(
                            explanation: explanation, provider: question.slot.policy.id, keys: status,
                            time: now.wall.seconds)), provider: question.provider), judged
            )
        } catch {
            return (Explained(answer: .failure(error), provider: token.provider), nil)
        }
    }

    /// A token that is not sent to any provider.
    private func refused(_ problem: Problem, provider: Int?) -> Explained {
        let name: CheckName = if case .rejected(.tokenMalformed, _) = problem { .tokenForm } else { .provider }
        let explanation = Explanation(
            opaqueTokenRefusedAt: name, code: problem.code, Diagnosis(sentence: problem.detail))
        return Explained(
            answer: .success(
                ExplainAnswer(
                    explanation: explanation, provider: provider.flatMap { slots[$0]?.policy.id }, keys: nil,
                    time: SystemClocks.unixSeconds())), provider: provider)
    }
}
