private import Bytes
package import HTTP
internal import IDToken
package import JOSE
private import Keys
internal import OAuth
package import Verification

/// The body of `POST /v1/grants/refresh`.
struct RefreshRequest {
    let client: GrantClient
    let grantRequest: GrantRequest
    let subject: ExpectedSubject
    let includesClaims: Bool

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        client = try GrantClient(object, beside: Names.all)
        guard let token: RefreshToken = try object.secret(Names.refreshToken) else {
            throw .requestInvalid("The request needs a member refresh_token.")
        }
        guard let subject = try ExpectedSubject(of: object, client.connection) else {
            throw .requestInvalid("The request needs a member subject: the user to whom the refresh token belongs.")
        }
        grantRequest = .refresh(token, scopes: try object.scopes(Names.scopes) ?? [])
        self.subject = subject
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    private enum Names {
        static let refreshToken: JSONName = "refresh_token"
        static let scopes: JSONName = "scopes"
        static let all = [
            MemberNames.provider, refreshToken, MemberNames.subject, MemberNames.issuer, MemberNames.audience,
            GrantClient.binding, scopes, MemberNames.includeClaims, RequestAuthentication.name,
        ]
    }
}

extension Operation {
    /// Refreshes a grant, and verifies the ID Token if the provider returns one.
    ///
    /// - Parameter signIns: `nil` if sign-ins are off; no grant is bound then.
    package func refresh(
        _ body: JSONObject, by signIns: LoopSignIns?
    ) throws(Problem) -> Reply<RefreshAnswer, Problem> {
        let request = try RefreshRequest(body)
        let provider = try provider(named: request.client.provider)
        grant = .refresh
        let client = try request.client.client(of: provider, in: self)
        try request.subject.check(against: policy(of: provider))
        let proofKey = try request.client.proofKey(of: client, by: signIns)
        let calls = try request.client.calls(of: self, to: provider, by: client)
        return .later { () async throws(Problem) in try await self.send(request, provenBy: proofKey, calls, signIns) }
    }

    private func send(
        _ request: RefreshRequest, provenBy proofKey: ProofKey?, _ calls: GrantCalls, _ signIns: LoopSignIns?
    ) async throws(Problem) -> RefreshAnswer {
        try await requireDocument()
        let (address, slot) = (try calls.tokenEndpoint(), try calls.slot())
        let grant: Grant
        do throws(CallFailure) {
            grant = try await calls.exchange(request.grantRequest, provenBy: proofKey, at: address, slot)
            // Unlike a code, a refresh token may be as good as before.
            isSpent = !calls.refreshTokensStay
        } catch {
            isSpent = error.usesUpRefreshToken(isBound: proofKey != nil, stays: calls.refreshTokensStay)
            throw Problem(error)
        }
        var binding: String?
        if let key = proofKey, let signIns { binding = try calls.binding(to: key, by: signIns) }
        let bound = BoundGrant(grant: grant, binding: binding)
        guard
            let verification = calls.verification(
                of: grant, subject: request.subject, includesClaims: request.includesClaims)
        else {
            return RefreshAnswer(grant: bound, verified: nil, problem: nil)
        }
        do throws(Problem) {
            return RefreshAnswer(grant: bound, verified: try await verify(verification), problem: nil)
        } catch {
            // The grant is worth more than the verification, which the caller can repeat.
            guard case .keysUnavailable = error else { throw error }
            return RefreshAnswer(grant: bound, verified: nil, problem: error)
        }
    }
}

extension CallFailure {
    /// Whether a refresh that failed has used up the refresh token, or may have.
    ///
    /// - Parameters:
    ///   - isBound: whether the token is bound to a key.
    ///   - stays: whether the provider's refreshes leave the token as it is.
    fileprivate func usesUpRefreshToken(isBound: Bool, stays: Bool) -> Bool {
        switch self {
        // The second refusal: the provider has seen the token twice.
        case .refused(.useDPoPNonce): isBound
        case .notSent, .clientRejected, .refused: false
        case .grantInvalid: true
        // The response says that nothing was done.
        case .unavailable(.status(429), _), .unavailable(.status(503), _): false
        // The provider may have rotated the refresh token, and the new one may be lost.
        case .unavailable, .answerInvalid: !stays
        }
    }
}

/// The answer to a refresh.
package struct RefreshAnswer {
    fileprivate let grant: BoundGrant
    /// `nil` without an ID Token, or if it could not be verified.
    fileprivate let verified: VerifyAnswer?
    /// Why it could not be verified.
    fileprivate let problem: Problem?

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter, requestID: String) {
        json.beginObject()
        json.name("grant")
        grant.write(to: &json)
        if let verified {
            verified.writeMembers(to: &json)
        } else {
            for name: StaticString in ["identity", "token", "keys"] { json.member(name, nil as String?) }
        }
        json.name("problem")
        if let problem {
            problem.write(to: &json, requestID: requestID)
        } else {
            json.null()
        }
        json.endObject()
    }
}
