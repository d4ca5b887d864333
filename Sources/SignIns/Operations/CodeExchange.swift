private import Bytes
internal import IDToken
package import JOSE
private import Keys
private import NIOCore
internal import OAuth
internal import OpenSSL
internal import Verification

/// A code that may be exchanged after its sign-in has been claimed.
struct PendingExchange {
    private let request: GrantRequest
    let code: String
    let clientName: ClientName?
    let includesClaims: Bool
    /// The canonical issuer that the response named; `nil` if it named none.
    var responseIssuer: String?
    /// The `state` of the response, if an ID Token came with the code.
    var responseState: String?

    init(request: GrantRequest, code: String, clientName: ClientName?, includesClaims: Bool) {
        self.request = request
        self.code = code
        self.clientName = clientName
        self.includesClaims = includesClaims
    }

    /// The request that redeems the code, which can be sent only once.
    fileprivate func request(for signIn: ClaimedSignIn) -> GrantRequest { request }

    /// The request to verify the grant's ID Token. `nil` if it has none.
    ///
    /// - Parameter first: the answer for the request's ID Token; `nil` if it had none.
    fileprivate func verification(
        of grant: Grant, _ content: SignIn, after first: VerifyAnswer?
    ) -> VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        var parameters = content.parameters(clientName: clientName)
        parameters.accessToken = grant.accessTokenText
        parameters.isAccessTokenHashOptional = true
        parameters.code = code
        if let first {
            // The nonce was checked in the first token. Comparing the subject prevents the injection of another user's
            // code.
            parameters.nonceUse = .compareIfPresent
            parameters.expectedSubject = ExpectedSubject(
                subject: first.identity.subject, issuer: first.identity.issuer)
        }
        return content.verification(of: idToken[...], parameters, includesClaims: includesClaims)
    }
}

extension Operation {
    /// Claims a sign-in, exchanges its code once, verifies the returned ID Token, and completes the identity from the
    /// UserInfo endpoint if the settings say so.
    ///
    /// - Parameter first: the answer for the request's ID Token; `nil` if it had none.
    func exchange(
        _ code: PendingExchange, of signIn: OpenedSignIn, _ first: VerifyAnswer?, _ calls: GrantCalls,
        _ signIns: LoopSignIns
    ) async throws(Problem) -> FinishedSignIn {
        self.grant = .exchange
        let claims = signIns.claims
        try await requireUsableKeys()
        let (address, userInfo) = (try calls.tokenEndpoint(), try calls.userInfoEndpoint())
        // Reserved before the claim, so that a hanging provider uses up no sign-ins.
        let slot = try calls.slot()
        // A sign-in that began before the setting has none.
        let proofKey = if let sealed = signIn.content.proofKey { sealed } else { try calls.newProofKey() }
        let claim = try signIn.claim(claims.digests)
        let claimed = try self.claimed(signIn, by: claim, await claims.attempt(claim).made())
        let grant: Grant
        do throws(CallFailure) {
            grant = try await calls.exchange(code.request(for: claimed), provenBy: proofKey, at: address, slot)
        } catch {
            await releaseClaim(claim, after: error, claims)
            throw Problem(error)
        }
        var answer = first
        if let verification = code.verification(of: grant, claimed.content, after: first) {
            let exchanged = try await verify(verification)
            if let named = code.responseIssuer, !named.isExactly(exchanged.identity.issuer) {
                throw .responseIssuerMismatch(.notTheTokens)
            }
            if first == nil { try claimed.content.check(exchanged) }
            // Some claims, such as Apple's `real_user_status`, are only in the first token.
            answer = first ?? exchanged
        }
        guard let answer else { throw .providerAnswerInvalid(.member(.idToken)) }
        var (identity, unverified): (Identity, [String]) = (answer.identity, [])
        if let userInfo {
            let text = try await calls.userInfo(grant, provenBy: proofKey, of: identity.subject, at: userInfo, slot)
            (identity, unverified) = try complete(identity, with: text, under: calls.policy)
        }
        let binding = try proofKey.map { key throws(Problem) in try calls.binding(to: key, by: signIns) }
        return FinishedSignIn(
            signIn: claimed, answer: answer, identity: identity, grant: BoundGrant(grant: grant, binding: binding),
            unverifiedClaims: unverified)
    }

    /// Releases the claim of an exchange that failed, if nothing was sent, or nothing will be issued for the code.
    private func releaseClaim(_ claim: Claim, after failure: CallFailure, _ claims: ClaimStore) async {
        switch failure {
        case .notSent:
            let release = claims.release(claim, after: .none)
            self.release = release
            isSpent = (try? await release.get()) != true
        case .grantInvalid(_, isIssued: false):
            // The answer is the same whether or not this is confirmed, so it does not wait.
            release = claims.release(claim, after: .refused)
        case .grantInvalid, .unavailable, .clientRejected, .refused, .answerInvalid: break
        }
    }

    /// - Parameter text: the claims of the same user, as JSON.
    /// - Returns: the identity, and the names of claims that another party asserts.
    /// - Throws: the problem if a claim is malformed.
    private func complete(
        _ identity: Identity, with text: [UInt8], under policy: ProviderPolicy
    ) throws(Problem) -> (Identity, unverified: [String]) {
        do throws(Rejection) {
            let claims = try UserInfoClaims(text)
            return (try identity.completed(byUserInfo: claims.object, policy), claims.unverified)
        } catch {
            throw .providerAnswerInvalid(error.claim.map { .claim($0.string) } ?? .notJSON)
        }
    }
}

extension SignIn {
    /// The parameters that an ID Token of this sign-in must match, whatever the finish request contains.
    func parameters(clientName: ClientName?) -> VerificationParameters {
        var parameters = VerificationParameters(
            nonce: nonce?.text, audience: audience, maximumAuthenticationAgeSeconds: maximumAuthenticationAgeSeconds,
            clientName: clientName)
        parameters.authenticationAgeIsCountedFrom = begunAt
        parameters.expectedSubject = subject.map { ExpectedSubject(subject: $0, issuer: issuer) }
        parameters.isCodeHashOptional = true
        if case .browser = kind { parameters.requiresAuthenticationTime = true }
        return parameters
    }

    /// The request to verify an ID Token of this sign-in.
    func verification(
        of idToken: ArraySlice<UInt8>, _ parameters: VerificationParameters, includesClaims: Bool
    ) -> VerifyRequest {
        VerifyRequest(
            ofSignIn: idToken, provider: provider, parameters: parameters, includesClaims: includesClaims,
            connection: connection)
    }
}

extension OpenedSignIn {
    func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        Claim(
            key: try openSSL(ClaimKey("sign-in", of: [salt], digests)),
            end: ClaimEnd(after: content.expiresAt.seconds), provider: content.provider)
    }
}

/// A sign-in that only this request finishes. A code is sent only for one of these.
struct ClaimedSignIn {
    let content: SignIn
    let claim: Claim

    fileprivate init(_ signIn: OpenedSignIn, _ claim: Claim) {
        content = signIn.content
        self.claim = claim
    }
}

extension Operation {
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    func claimed(_ signIn: OpenedSignIn, by claim: Claim, _ made: ClaimStore.Made) throws(Problem) -> ClaimedSignIn {
        self.claim = made
        if let problem = made.outcome.problem(ifClaimedBefore: .signInReplayed) { throw problem }
        return ClaimedSignIn(signIn, claim)
    }
}

/// A sign-in that only this request has finished.
package struct FinishedSignIn {
    let signIn: ClaimedSignIn
    let answer: VerifyAnswer
    let identity: Identity
    /// `nil` if no code was exchanged.
    let grant: BoundGrant?
    /// The names of claims that the provider passes on from another party; none of them is in the identity.
    var unverifiedClaims: [String] = []

    /// Writes the answer as a JSON object, every member present but for `unverified_claims`.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        answer.writeMembers(identity, to: &json)
        json.member("context", signIn.content.context)
        json.name("grant")
        if let grant {
            grant.write(to: &json)
        } else {
            json.null()
        }
        if !unverifiedClaims.isEmpty { json.array("unverified_claims", unverifiedClaims) }
        json.endObject()
    }
}
