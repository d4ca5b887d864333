internal import HTTP
package import IDToken
internal import JOSE

/// A signed authorization response (JARM), which answers the request of one sign-in.
package struct ResponseRequest: Sendable {
    let token: ArraySlice<UInt8>
    /// The number of the provider.
    let provider: Int
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// The client.
    let audience: String
    private(set) var wasEncrypted = false

    package init(_ token: ArraySlice<UInt8>, ofProvider provider: Int, _ connection: Connection?, audience: String) {
        self.token = token
        self.provider = provider
        self.connection = connection
        self.audience = audience
    }

    fileprivate init(_ request: ResponseRequest, inside opened: OpenedToken) {
        self.init(opened.content, ofProvider: request.provider, request.connection, audience: request.audience)
        wasEncrypted = true
    }
}

extension RequestVerifier {
    /// Verifies a signed authorization response. Keys, waiting and decryption work as for ID Tokens.
    package func verify(_ request: ResponseRequest, at now: VerificationTime) -> Outcome<VerifiedResponse> {
        let index = request.provider
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.token)
            } catch {
                return .pending(
                    .opening(
                        try opener(index, error, of: .idToken).opening(request.token) { opened, now in
                            self.verify(ResponseRequest(request, inside: opened), at: now)
                        }))
            }
            guard let slot = slots[index] else { throw unknownProvider(named: nil) }
            if !request.wasEncrypted, slot.provider.mustEncrypt(.response) { throw .encryption(.required(.response)) }
            let policy = try slot.slot(ofConnection: request.connection)
            return try verify(token, request, policy, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    private func verify(
        _ token: UnverifiedToken, _ request: ResponseRequest, _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<VerifiedResponse> {
        try attempt(token, request.provider, slot, now, of: .idToken) { () throws(Rejection) in
            try token.checkClaims(of: slot.policy, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try verifier.checkHeader(token, under: slot.policy)
        } verifying: { keys throws(Rejection) in
            try verifier.verifyResponse(
                token, with: keys.keys, under: slot.policy, audience: request.audience, now: now.wall)
        }
    }

    /// Checks the `s_hash` of an ID Token that came with a code from the authorization endpoint.
    ///
    /// - Throws: ``Problem/rejected(_:of:)``.
    package func checkStateHash(of answer: VerifyAnswer, _ state: String) throws(Problem) {
        do throws(Rejection) {
            try IDToken.checkStateHash(of: answer.token, state, verifier.jwsVerifier.checker)
        } catch {
            throw .rejected(error)
        }
    }
}

/// Why an authorization response does not fit a sign-in that asked for a signed one.
package enum ResponseFault: Sendable, Equatable {
    /// There is no signed response.
    case plain
    /// Plain parameters came beside the signed response.
    case beside
    /// The signed response is refused.
    ///
    /// - Parameter code: that of a refused token.
    case refused(code: String)
    /// It is encrypted, but the provider's entry opens no encrypted tokens.
    case encryptedUnexpectedly
    /// A parameter in the signed response is not a string.
    case content

    var detail: String {
        switch self {
        case .plain:
            "This sign-in asked for a signed response (response_mode: jwt), but response has no member response; send all parameters that the redirect URI received, and begin a new sign-in if it is not among them."
        case .beside:
            "Beside the signed response there is code, state, iss, user, error or id_token, which a signed response has inside; somebody may have added it; begin a new sign-in."
        case .refused(let code):
            "The signed response is refused: \(code) (its iss, aud, exp, signature or encryption); begin a new sign-in, and check what is registered at the provider."
        case .encryptedUnexpectedly:
            "The response is encrypted, but the provider's entry has no encryption; add it to the settings, or have the provider only sign its responses, and begin a new sign-in."
        case .content:
            "A parameter in the signed response is not a string; report it to the provider."
        }
    }
}

extension Problem {
    /// The problem of a signed response: one code for whatever is wrong with it.
    package var ofResponse: Problem {
        switch self {
        case .rejected(.cryptographyUnavailable, _): self
        case .rejected(.tokenMalformed(.encrypted), _): .responseInvalid(.encryptedUnexpectedly)
        case .rejected, .encryption: .responseInvalid(.refused(code: code))
        default: self
        }
    }
}
