import IDToken
@testable import Service
import Testing
import Verification

@Suite struct ProblemHeadersTests {
    private func fields(_ problem: Problem) -> [String] { problem.headers.map { "\($0.name): \($0.value)" } }

    @Test func `retryable problems have Retry-After, and a refused caller WWW-Authenticate`() {
        #expect(fields(.keysUnavailable(retryAfterSeconds: 7)) == ["Retry-After: 7"])
        #expect(fields(.overloaded(limit: "limits.max_buffered")) == ["Retry-After: 1"])
        #expect(fields(.shuttingDown) == ["Retry-After: 1"])
        #expect(fields(.methodNotAllowed(allow: "POST")) == ["Allow: POST"])
        #expect(fields(.callerUnauthenticated) == ["WWW-Authenticate: Bearer"])
        for problem: Problem in [.notFound, .requestTimeout, .providerUnknown(), .rejected(.keyNotFound)] {
            #expect(fields(problem) == [])
        }
    }
}
