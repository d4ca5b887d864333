private import Bytes
package import IDToken
package import JOSE
private import Keys

/// The body of `POST /v1/access-tokens/verify`.
package struct AccessTokenRequest: Sendable {
    let token: ArraySlice<UInt8>
    let provider: String?
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
        guard let token = try? object.utf8(Names.token) else {
            throw .requestInvalid("The request needs a member token, a string.")
        }
        self.token = token
        provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        parameters = AccessTokenParameters(
            audience: try object.string(MemberNames.audience, characters: MemberBounds.audience),
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
        static let all =
            [
                token, MemberNames.provider, MemberNames.audience, MemberNames.subject, MemberNames.issuer,
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
            let token: UnverifiedToken
            do throws(Rejection) {
                (token, index) = try read(request.token, ofProvider: index, among: ofAccessTokens)
            } catch {
                throw .rejected(error, of: .accessToken)
            }
            guard let index, let slot = slots[index], let dialect = slot.provider.accessTokens else {
                throw noProvider(named: nil, issuer: token.unverifiedIssuer, ofAccessTokens: true)
            }
            return try verify(token, request, dialect, index, slot, now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
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
            json.object { token.writeMembers(to: &$0) }
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
