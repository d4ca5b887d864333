internal import HTTPServer
private import NIOCore
private import NIOHTTP1
internal import Verification

/// Responses to requests about tokens that are not ID Tokens.
extension ServiceResponder {
    /// Responds with a verdict, after waiting for keys if it depends on them.
    ///
    /// - Parameter count: counts the verdict.
    func reply<Answer: TokenAnswer>(
        _ outcome: RequestVerifier.TokenOutcome<Answer>, by verifier: RequestVerifier, _ record: RequestRecord,
        counting count: @escaping (TokenVerdict<Answer>) -> Void
    ) -> HTTPReply {
        switch outcome {
        case .decided(let verdict): return .now(response(to: verdict, record, counting: count))
        case .pending(let pending):
            return .later {
                verifier.waitForKeys(pending, until: self.keysDeadline(), on: self.service.loop).assumeIsolated()
                    .map { self.response(to: $0, record, counting: count) }.nonisolated()
            }
        }
    }

    private func response<Answer: TokenAnswer>(
        to verdict: TokenVerdict<Answer>, _ record: RequestRecord, counting count: (TokenVerdict<Answer>) -> Void
    ) -> HTTPResponse {
        count(verdict)
        switch verdict {
        case .verified(let answer, let provider):
            let text = service.json { answer.write(to: &$0) }
            return service.end(record, .ok, "application/json", text, provider: provider)
        case .refused(let problem, let provider): return service.end(record, problem, provider: provider)
        }
    }
}
