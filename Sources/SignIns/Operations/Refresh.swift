private import Bytes
package import HTTP
internal import IDToken
package import JOSE
private import Keys
internal import OAuth
package import Verification

/// The body of `POST /v1/grants/refresh`.
struct RefreshRequest {
    private let client: GrantClient
    private let token: RefreshToken
    private let subject: ExpectedSubject
    private let scopes: [String]
    private let includesClaims: Bool

    var provider: String { client.provider }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        client = try GrantClient(object, beside: Names.all)
        guard let token: RefreshToken = try object.secret(Names.refreshToken) else {
            throw .requestInvalid("The request needs a member refresh_token.")
        }
        guard let subject = try ExpectedSubject(of: object, client.connection) else {
            throw .requestInvalid("The request needs a member subject: the user to whom the refresh token belongs.")
        }
        self.token = token
        self.subject = subject
        scopes = try object.scopes(Names.scopes) ?? []
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/bindingInvalid``.
    fileprivate func ready(
        at provider: Provider, in operation: Operation, by signIns: LoopSignIns?
    ) throws(Problem) -> (ReadyRefresh, GrantCalls) {
        let client = try client.client(of: provider, in: operation)
        try subject.check(against: operation.policy(of: provider))
        let refresh = ReadyRefresh(
            provider: self.provider, connection: operation.connection, clientID: client.id,
            request: .refresh(token, scopes: scopes),
            proofKey: try self.client.proofKey(of: client, by: signIns), subject: subject,
            tokensStay: provider.grants?.rules.quirks.contains(.refreshTokensStay) ?? false,
            includesClaims: includesClaims)
        return (refresh, try self.client.calls(of: operation, to: provider, by: client))
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
        let provider = try provider(named: request.provider)
        grant = .refresh
        let (refresh, calls) = try request.ready(at: provider, in: self, by: signIns)
        return .later { () async throws(Problem) in try await self.send(refresh, calls, signIns) }
    }

    private func send(
        _ refresh: ReadyRefresh, _ calls: GrantCalls, _ signIns: LoopSignIns?
    ) async throws(Problem) -> RefreshAnswer {
        try await requireDocument()
        let (address, slot) = (try calls.tokenEndpoint(), try calls.slot())
        let grant: Grant
        do throws(CallFailure) {
            grant = try await calls.exchange(refresh.request, provenBy: refresh.proofKey, at: address, slot)
            isSpent = !refresh.tokensStay
        } catch {
            isSpent = refresh.isSpent(by: error)
            throw Problem(error)
        }
        var binding: String?
        if let key = refresh.proofKey, let signIns { binding = try calls.binding(to: key, by: signIns) }
        let bound = BoundGrant(grant: grant, binding: binding)
        guard let verification = refresh.verification(of: grant) else {
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

/// A refresh that fits the settings, and the meaning of the provider's responses.
private struct ReadyRefresh {
    let provider: String
    let connection: Connection?
    let clientID: String
    let request: GrantRequest
    /// `nil` if the grant is not bound.
    let proofKey: ProofKey?
    let subject: ExpectedSubject
    let tokensStay: Bool
    let includesClaims: Bool

    /// The request to verify the grant's ID Token; `nil` if it has none, which is allowed.
    ///
    /// The nonce and `auth_time` of the first ID Token are not known here, so they are not compared.
    ///
    /// - Source: OpenID Connect Core 1.0, section 12.2.
    func verification(of grant: Grant) -> VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        var parameters = VerificationParameters(
            audience: clientID, accessToken: grant.accessTokenText, expectedSubject: subject)
        parameters.nonceUse = .ignoreFromTokenEndpoint
        parameters.isAccessTokenHashOptional = true
        return VerifyRequest(
            ofSignIn: idToken[...], provider: provider, parameters: parameters, includesClaims: includesClaims,
            connection: connection)
    }

    /// Whether the refresh token is used up, or may be, after a call that failed.
    func isSpent(by failure: CallFailure) -> Bool {
        switch failure {
        // The second refusal: the provider has seen the token twice.
        case .refused(.useDPoPNonce): proofKey != nil
        case .notSent, .clientRejected, .refused: false
        case .grantInvalid: true
        // The response says that nothing was done.
        case .unavailable(.status(429), _), .unavailable(.status(503), _): false
        // The provider may have rotated the refresh token, and the new one may be lost.
        case .unavailable, .answerInvalid: !tokensStay
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

/// The members that name the client of a request, and whether they fit the settings.
struct GrantClient {
    let provider: String
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// What the backend keeps of the grant's key; `nil` if the request has none.
    let binding: String?
    private let audience: String?
    private let authentication: RequestAuthentication?

    /// - Parameter others: all members that the request may have, but for those of a connection.
    /// - Throws: ``Problem/requestInvalid(_:)``, also for an unknown member.
    init(_ object: JSONObject, beside others: [JSONName]) throws(Problem) {
        connection = try Connection(of: object, beside: others)
        guard let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs a member provider, the id of a configured provider.")
        }
        self.provider = provider
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        authentication = try RequestAuthentication(of: object)
        binding = try object.string(Self.binding, characters: 1...GrantBinding.maximumLength)
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func client(of provider: Provider, in operation: Operation) throws(Problem) -> OAuthClient {
        try operation.choose(connection, of: provider)
        if let audience, !operation.policy(of: provider).audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        guard let rules = operation.grantRules(of: provider) else { throw .clientNotConfigured }
        if let audience {
            guard let client = rules.client(audience) else { throw .clientNotConfigured }
            return client
        }
        guard rules.clients.count == 1 else {
            throw .requestInvalid("The request needs a member audience, because this provider has several clients.")
        }
        return rules.clients[0]
    }

    /// - Throws: ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func calls(of operation: Operation, to provider: Provider, by client: OAuthClient) throws(Problem) -> GrantCalls {
        try GrantCalls(of: operation, to: provider, by: client.id, authentication)
    }
}

extension JSONObject {
    /// A secret of a grant.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    func secret<Purpose>(_ name: JSONName) throws(Problem) -> SecretText<Purpose>? {
        let maximum = SecretText<Purpose>.maximumLength
        guard let text = try string(name, characters: 1...maximum) else { return nil }
        guard let secret = SecretText<Purpose>(text) else {
            throw .requestInvalid("\(name.string) must have 1 to \(maximum) ASCII characters.")
        }
        return secret
    }
}
