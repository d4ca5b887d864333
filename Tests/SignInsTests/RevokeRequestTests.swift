import IDToken
import JOSE
import OAuth
@testable import SignIns
import Testing
import Verification

@Suite struct RevokeRequestTests {
    private static let policy = ProviderPolicy(id: "op", issuer: "https://op.example", audiences: ["client"])

    private func code() throws -> CodeToRevoke {
        let body = Array(#"{"provider":"op","code":"c1"}"#.utf8)
        let rules = GrantRules(clients: [OAuthClient(id: "client")], quirks: [])
        guard case .code(let code) = try RevokeRequest(JSONObject(body)).ready(under: Self.policy, rules) else {
            throw Problem.notFound
        }
        return code
    }

    private func grant(_ more: String = "") throws -> Grant {
        try EndpointAnswer(
            status: 200, retryAfter: nil, hasContentCoding: false,
            body: Array(#"{"access_token":"a","token_type":"Bearer"\#(more)}"#.utf8)
        ).grant([], now: UnixTime(seconds: 1_700_000_000))
    }

    /// How a revocation fails: with which problem, whether the code is spent, and whether a grant is dropped.
    private func expectDropped(_ problem: Problem, _ body: () throws(FinishFailure) -> Void) {
        let failure = #expect(throws: FinishFailure.self) { try body() }
        #expect(failure?.problem == problem)
        #expect(failure?.isSpent == true && failure?.dropsGrant == true)
    }

    @Test func `a grant whose ID Token is missing or refused is dropped`() throws {
        let (code, grant) = (try code(), try grant())
        expectDropped(.providerAnswerInvalid(.member(.idToken))) { () throws(FinishFailure) in
            _ = try code.verification(of: grant)
        }
        expectDropped(.rejected(.subjectMismatch)) { () throws(FinishFailure) in
            _ = try code.revocation(of: grant, .refused(.rejected(.subjectMismatch), provider: 0))
        }
    }
}
