private import Bytes
package import IDToken
package import JOSE
private import Keys

/// The body of `POST /v1/access-tokens/verify`.
package struct AccessTokenRequest: Sendable {
    /// `nil`: the API's client sent none. Only with a resource.
    let token: ArraySlice<UInt8>?
    let provider: String?
    /// The ID of the resource that the token is for, which determines its providers and audiences.
    let resource: String?
    let parameters: AccessTokenParameters
    let includesClaims: Bool

    /// Unknown members are rejected, and so is `null` for a member that enables a check, as in ``VerifyRequest``.
    ///
    /// - Parameters:
    ///   - others: names of members that belong to something else.
    ///   - proofs: the rules of DPoP proofs; `nil` if they are not checked.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject, beside others: [JSONName] = [], _ proofs: ProofRules?) throws(Problem) {
        try object.requireOnly(Names.all + others, in: "request")
        resource = try object.checkedString(Names.resource, characters: MemberBounds.provider)
        token = try? object.utf8(Names.token)
        guard token != nil || resource != nil && object[Names.token]?.kind == .null else {
            throw .requestInvalid(
                resource == nil
                    ? "The request needs a member token, a string."
                    : "The request needs a member token: a string, or null if the client sent none.")
        }
        provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        let audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        if resource != nil, provider != nil || audience != nil {
            throw .requestInvalid("resource determines provider and audience; send resource, or send these.")
        }
        parameters = AccessTokenParameters(
            audience: audience,
            expectedSubject: try ExpectedSubject(of: object),
            authenticatedAfter: try VerifyRequest.authenticatedAfter(object),
            scopes: try object.scopes(Names.scopes) ?? [], evidence: try BindingEvidence(of: object, proofs))
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
    }

    /// Rejects a request for something that the provider's settings don't allow.
    ///
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``.
    func check(against policy: ProviderPolicy) throws(Problem) {
        if let audience = parameters.audience, !policy.audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        if let person = parameters.expectedSubject { try person.check(against: policy) }
    }

    private enum Names {
        static let token: JSONName = "token"
        static let scopes: JSONName = "scopes"
        static let resource: JSONName = "resource"
        static let all =
            [
                token, resource, MemberNames.provider, MemberNames.audience, MemberNames.subject, MemberNames.issuer,
                MemberNames.authenticatedAfter, scopes, MemberNames.includeClaims,
            ] + BindingEvidence.names
    }
}

/// Verifies access tokens. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Verifies an access token: the request, the token's form, then all checks.
    package func verify(_ request: AccessTokenRequest, at now: VerificationTime) -> Outcome<AccessTokenAnswer> {
        var index = request.provider.flatMap(ofAccessTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw noProvider(named: named, ofAccessTokens: true) }
            let resource = request.resource.flatMap(resource)
            if let named = request.resource, resource == nil { throw unknownResource(named: named) }
            guard let text = request.token else { throw .tokenMissing }
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try read(text, ofProvider: index, among: resource?.providers ?? ofAccessTokens)
            } catch {
                if resource != nil, text.isOpaque(error) { throw .issuerNotOfResource }
                throw .rejected(error, of: .accessToken)
            }
            guard let index, let slot = slot(index, of: resource), let dialect = slot.provider.accessTokens else {
                guard resource == nil else { throw .issuerNotOfResource }
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            return try verify(token, request, dialect, index, slot, now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    /// The provider with this number, under the resource's rules if there is one.
    func slot(_ number: Int, of resource: ServedResource?) -> ProviderSlot? {
        if let resource { resource[number] } else { slots[number] }
    }

    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verify(
        _ token: UnverifiedToken, _ request: AccessTokenRequest, _ dialect: AccessTokenDialect, _ index: Int,
        _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<AccessTokenAnswer> {
        try request.check(against: slot.policy)
        return try attempt(accessToken: token, dialect, index, slot, now, request.parameters) { token, keys in
            AccessTokenAnswer(
                token: token, keys: keys.used(at: now.monotonic), includesClaims: request.includesClaims)
        }
    }

    /// - Parameter answer: creates the answer from a verified token and the keys that verified it.
    /// - Throws: ``Problem/rejected(_:of:)``.
    @inline(__always)
    func attempt<Answer>(
        accessToken token: UnverifiedToken, _ dialect: AccessTokenDialect, _ index: Int, _ slot: ProviderSlot,
        _ now: VerificationTime, _ parameters: AccessTokenParameters,
        answer: (consuming VerifiedAccessToken, LoopKeySnapshot.Latest) -> Answer
    ) throws(Problem) -> Outcome<Answer> {
        try attempt(token, index, slot, now, of: .accessToken) {
            token.wouldPassClaims(ofAccessTokenUnder: slot.policy, dialect, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try verifier.jwsVerifier.checkAccessTokenHeader(
                token, allowing: slot.policy.algorithms ?? .all, dialect)
        } verifying: { keys throws(Rejection) in
            let verified = try verifier.jwsVerifier.verifyAccessToken(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, dialect,
                expecting: parameters, now: now.wall)
            if dialect.loadBalancer != nil, let keyID = token.keyID, keys.snapshot.isUnproven(keyID) {
                slot.provider.keys.prove(keyID)
            }
            return answer(verified, keys)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Whether a text that could not be read as a JWT can be another access token, which only its issuer can read: it
    /// has not three parts, or the first is no JOSE header.
    ///
    /// - Source: RFC 6750, section 2.1.
    func isOpaque(_ rejection: Rejection) -> Bool {
        (rejection == .tokenMalformed(.serialization) || rejection == .tokenMalformed(.header)) && span.isToken
    }
}

/// The answer for a verified access token: its subject, its permissions, and the keys that were used.
package struct AccessTokenAnswer: TokenAnswer {
    package let token: VerifiedAccessToken
    let keys: KeysUsed
    let includesClaims: Bool

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.name("identity")
            token.identity.write(to: &json)
            json.name("token")
            token.write(to: &json)
            json.object("authorization") { json in
                json.member("client_id", token.authorization.clientID)
                json.array("scopes", token.authorization.scopes)
                json.array("roles", token.authorization.roles)
                if let groups = token.authorization.groups {
                    json.array("groups", groups)
                } else {
                    json.name("groups")
                    json.null()
                }
                json.array("entitlements", token.authorization.entitlements)
                json.name("binding")
                if let binding = token.binding { binding.write(to: &json) } else { json.null() }
            }
            json.name("keys")
            keys.write(to: &json)
            if includesClaims {
                json.name("claims")
                json.raw(token.claimsText)
            }
        }
    }
}
