private import Bytes
package import IDToken
package import JOSE
package import OAuth
package import Verification

/// The body of `POST /v1/grants/refresh`.
package struct RefreshRequest {
    private let client: GrantClient
    private let token: RefreshToken
    private let subject: ExpectedSubject
    private let scopes: [String]
    private let includesClaims: Bool

    package var provider: String { client.provider }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        client = try GrantClient(object)
        guard let token: RefreshToken = try object.secret(Names.refreshToken) else {
            throw .requestInvalid("The request needs a member refresh_token.")
        }
        guard let subject = try ExpectedSubject(of: object) else {
            throw .requestInvalid("The request needs a member subject: the user to whom the refresh token belongs.")
        }
        self.token = token
        self.subject = subject
        scopes = try object.scopes(Names.scopes) ?? []
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    package func ready(under policy: ProviderPolicy, _ rules: GrantRules?) throws(Problem) -> ReadyRefresh {
        let client = try client.client(under: policy, rules)
        try subject.check(against: policy)
        return ReadyRefresh(
            provider: provider, clientID: client.id, request: .refresh(token, scopes: scopes), subject: subject,
            tokensStay: rules?.quirks.contains(.refreshTokensStay) ?? false, includesClaims: includesClaims)
    }

    private enum Names {
        static let refreshToken: JSONName = "refresh_token"
        static let scopes: JSONName = "scopes"
        static let all = [
            MemberNames.provider, refreshToken, MemberNames.subject, MemberNames.issuer, MemberNames.audience, scopes,
            MemberNames.includeClaims,
        ]
    }
}

/// A refresh that fits the settings, and the meaning of the provider's responses.
package struct ReadyRefresh {
    private let provider: String
    package let clientID: String
    package let request: GrantRequest
    private let subject: ExpectedSubject
    private let tokensStay: Bool
    private let includesClaims: Bool

    fileprivate init(
        provider: String, clientID: String, request: GrantRequest, subject: ExpectedSubject, tokensStay: Bool,
        includesClaims: Bool
    ) {
        self.provider = provider
        self.clientID = clientID
        self.request = request
        self.subject = subject
        self.tokensStay = tokensStay
        self.includesClaims = includesClaims
    }

    /// The request to verify the grant's ID Token; `nil` if it has none, which is allowed.
    ///
    /// The nonce and `auth_time` of the first ID Token are not known here, so they are not compared.
    ///
    /// - Source: OpenID Connect Core 1.0, section 12.2.
    package func verification(of grant: Grant) -> VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        var parameters = VerificationParameters(
            audience: clientID, accessToken: grant.accessTokenText, expectedSubject: subject)
        parameters.nonceUse = .ignoreFromTokenEndpoint
        parameters.isAccessTokenHashOptional = true
        return VerifyRequest(
            ofSignIn: idToken[...], provider: provider, parameters: parameters, includesClaims: includesClaims)
    }

    /// The failure of the call.
    package func failure(_ failure: CallFailure) -> FinishFailure {
        let isSpent =
            switch failure {
            case .notSent, .clientRejected, .refused: false
            case .grantInvalid: true
            // The response says that nothing was done.
            case .unavailable(.status(429), _), .unavailable(.status(503), _): false
            // The provider may have rotated the refresh token, and the new one may be lost.
            case .unavailable, .answerInvalid: !tokensStay
            }
        return FinishFailure(Problem(failure), isSpent: isSpent)
    }

    /// - Parameter verdict: on the grant's ID Token; `nil` if it has none.
    /// - Throws: a failure if the ID Token is refused. Only ``Problem/keysUnavailable(retryAfterSeconds:)`` does not
    ///   drop the grant.
    package func answer(_ grant: Grant, _ verdict: Verdict<VerifyAnswer>?) throws(FinishFailure) -> RefreshAnswer {
        switch verdict {
        case nil: return RefreshAnswer(grant: grant, verified: nil, problem: nil)
        case .verified(let answer, _)?: return RefreshAnswer(grant: grant, verified: answer, problem: nil)
        case .refused(.keysUnavailable(let seconds), _)?:
            return RefreshAnswer(grant: grant, verified: nil, problem: .keysUnavailable(retryAfterSeconds: seconds))
        case .refused(let problem, _)?: throw FinishFailure(problem, isSpent: !tokensStay, dropsGrant: true)
        }
    }
}

/// The answer to a refresh.
package struct RefreshAnswer {
    fileprivate let grant: Grant
    /// `nil` without an ID Token, or if it could not be verified.
    fileprivate let verified: VerifyAnswer?
    /// Why it could not be verified.
    package let problem: Problem?

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter, requestID: String) {
        json.beginObject()
        json.name("grant")
        json.beginObject()
        grant.writeMembers(to: &json)
        json.endObject()
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
    private let audience: String?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        guard let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs a member provider, the id of a configured provider.")
        }
        self.provider = provider
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    func client(under policy: ProviderPolicy, _ rules: GrantRules?) throws(Problem) -> OAuthClient {
        if let audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard let rules else { throw .clientNotConfigured }
        if let audience {
            guard let client = rules.client(audience) else { throw .clientNotConfigured }
            return client
        }
        guard rules.clients.count == 1 else {
            throw .requestInvalid("The request needs a member audience, because this provider has several clients.")
        }
        return rules.clients[0]
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
