internal import HTTP
package import IDToken
internal import JOSE
internal import OAuth

/// An `id_token_hint`: an ID Token that the provider once issued to a client, which names a person to the provider.
package struct HintRequest: Sendable {
    let idToken: ArraySlice<UInt8>
    /// The number of the provider.
    let provider: Int
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// The client.
    let audience: String
    /// `nil` unless the token came encrypted.
    private(set) var encryption: EncryptionFacts?

    package init(_ idToken: ArraySlice<UInt8>, ofProvider provider: Int, _ connection: Connection?, audience: String) {
        self.idToken = idToken
        self.provider = provider
        self.connection = connection
        self.audience = audience
    }

    fileprivate init(_ request: HintRequest, inside opened: OpenedToken) {
        self.init(opened.content, ofProvider: request.provider, request.connection, audience: request.audience)
        encryption = opened.encryption
    }
}

/// A hint that holds.
package struct HintAnswer {
    package let hint: VerifiedHint
    /// The signed token, also if it came encrypted.
    package let text: ArraySlice<UInt8>
    /// Whether it came encrypted, so that what is inside must not be shown to everyone who sees a URL.
    package let wasEncrypted: Bool
}

extension RequestVerifier {
    /// Verifies an `id_token_hint`: that it is this provider's and this client's, but not its age; see
    /// ``IDToken/IDTokenVerifier/verifyHint(_:with:algorithms:under:audience:now:)``.
    package func verify(_ request: HintRequest, at now: VerificationTime) -> Outcome<HintAnswer> {
        let index = request.provider
        do throws(Problem) {
            return try read(
                request.idToken, of: .idToken, wasEncrypted: request.encryption != nil, index, request.connection
            ) { opened, now in
                self.verify(HintRequest(request, inside: opened), at: now)
            } verifying: { token, slot throws(Problem) in
                try verify(token, request, slot, now)
            }
        } catch {
            return .decided(.refused(error.naming(request.audience), provider: index))
        }
    }

    private func verify(
        _ token: UnverifiedToken, _ request: HintRequest, _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<HintAnswer> {
        try attempt(token, request.provider, slot, now, of: .idToken) { () throws(Rejection) in
            try token.checkHintClaims(of: slot.policy)
        } checkingHeader: { () throws(Rejection) in
            try verifier.checkHeader(token, under: slot.policy)
        } verifying: { keys throws(Rejection) in
            let hint = try verifier.verifyHint(
                token, with: keys.keys, algorithms: keys.algorithms, under: slot.policy, audience: request.audience,
                now: now.wall)
            return HintAnswer(hint: hint, text: request.idToken, wasEncrypted: request.encryption != nil)
        }
    }
}

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
            return try read(
                request.token, of: .response, wasEncrypted: request.wasEncrypted, index, request.connection
            ) { opened, now in
                self.verify(ResponseRequest(request, inside: opened), at: now)
            } verifying: { token, slot throws(Problem) in
                try verify(token, request, slot, now)
            }
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

/// A UserInfo response that is a JWT, and whose it must be.
package struct UserInfoToken: Sendable {
    let text: ArraySlice<UInt8>
    /// The number of the provider.
    let provider: Int
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    let clientID: String
    /// The ID Token's.
    let subject: String
    private(set) var isOpened = false

    package init(
        _ text: ArraySlice<UInt8>, ofProvider provider: Int, _ connection: Connection?, clientID: String,
        subject: String
    ) {
        self.text = text
        self.provider = provider
        self.connection = connection
        self.clientID = clientID
        self.subject = subject
    }

    fileprivate func inside(_ opened: OpenedToken) -> UserInfoToken {
        var request = UserInfoToken(
            opened.content, ofProvider: provider, connection, clientID: clientID, subject: subject)
        request.isOpened = true
        return request
    }
}

extension RequestVerifier {
    /// Verifies a UserInfo response that is a JWT; see
    /// ``IDToken/IDTokenVerifier/verifyUserInfo(_:with:under:clientID:subject:now:)``.
    ///
    /// - Returns: the claims, as JSON. The problem of one that is refused says why as ``Problem/ofUserInfo`` has it.
    package func verify(_ request: UserInfoToken, at now: VerificationTime) -> Outcome<[UInt8]> {
        let index = request.provider
        do throws(Problem) {
            // The bound of the provider's responses applies, as to claims that come as JSON.
            return try read(
                request.text, upTo: request.text.count, of: .userInfo, wasEncrypted: request.isOpened, index,
                request.connection
            ) { opened, now in
                self.verify(request.inside(opened), at: now)
            } verifying: { token, slot throws(Problem) in
                try verify(token, request, slot, now)
            }
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    private func verify(
        _ token: UnverifiedToken, _ request: UserInfoToken, _ slot: ProviderSlot, _ now: VerificationTime
    ) throws(Problem) -> Outcome<[UInt8]> {
        // The provider itself has sent the token, so it may cause a fetch whatever it says.
        try attempt(token, request.provider, slot, now, of: .idToken) { () throws(Rejection) in
        } checkingHeader: { () throws(Rejection) in
            try verifier.checkHeader(token, under: slot.policy)
        } verifying: { keys throws(Rejection) in
            try verifier.verifyUserInfo(
                token, with: keys.keys, under: slot.policy, clientID: request.clientID, subject: request.subject,
                now: now.wall)
        }
    }
}

extension Problem {
    /// The same problem, if it is that of a UserInfo response: whatever is wrong with it is the provider's fault.
    package var ofUserInfo: Problem {
        switch self {
        case .rejected(.cryptographyUnavailable, _): self
        case .rejected(.subjectMismatch, _): .providerAnswerInvalid(.otherSubject)
        case .rejected(let rejection, _): .providerAnswerInvalid(.userInfoToken(UserInfoTokenFault(rejection)))
        case .encryption(let fault): .providerAnswerInvalid(.userInfoToken(UserInfoTokenFault(fault)))
        default: self
        }
    }
}

extension UserInfoTokenFault {
    fileprivate init(_ rejection: Rejection) {
        self =
            switch rejection {
            case .tokenMalformed(.encrypted): .encryptedUnexpectedly
            case .tokenMalformed(.tooLong): .tooLong
            case .headerUnsupported: .header
            case .algorithmNotAllowed: .algorithm
            case .keyNotFound: .keyNotFound
            case .keyUnsuitable: .keyUnsuitable
            case .signatureInvalid: .signature
            case .issuerMismatch: .member("iss", .notTheProviders)
            case .audienceMismatch: .member("aud", .notOurs)
            case .tokenExpired: .member("exp", .expired)
            case .tokenNotYetValid: .member("nbf", .notYet)
            case .claimMissing(let claim): .member(claim.string, .missing)
            case .claimInvalid(let claim): .member(claim.string, .invalid)
            default: .form
            }
    }

    fileprivate init(_ fault: EncryptionFault) {
        self =
            switch fault {
            case .malformed: .encryption("has a part that is not unpadded base64url, or a malformed header")
            case .headerUnsupported:
                .encryption("has crit, b64, zip or a cty other than JWT, or another encrypted token inside")
            case .algorithmNotAllowed:
                .encryption("has an alg or enc that encryption.algorithms or encryption.content does not allow")
            case .contentMalformed: .encryption("has no signed JWT inside")
            case .failed: .encryption("can't be opened: it is for another key, or was changed")
            case .required: .notEncrypted
            }
    }
}

extension RequestVerifier {
    /// Reads a token whose provider the request names, and goes on with it; an encrypted one is opened first.
    ///
    /// - Parameters:
    ///   - limit: the token's maximum length, in bytes; `nil`: that of ID Tokens.
    ///   - kind: what the provider may have to encrypt.
    ///   - index: the provider's number.
    ///   - opened: verifies the same request with what was inside.
    ///   - verify: verifies the token under the policy of its issuer.
    private func read<Answer>(
        _ text: ArraySlice<UInt8>, upTo limit: Int? = nil, of kind: EncryptionRules.Kind, wasEncrypted: Bool,
        _ index: Int, _ connection: Connection?,
        opened: @escaping (OpenedToken, VerificationTime) -> Outcome<Answer>,
        verifying verify: (UnverifiedToken, ProviderSlot) throws(Problem) -> Outcome<Answer>
    ) throws(Problem) -> Outcome<Answer> {
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(text, upTo: limit ?? verifier.maximumTokenLength)
        } catch {
            return .pending(.opening(try opener(index, error, of: .idToken).opening(text, verifying: opened)))
        }
        guard let slot = slots[index] else { throw unknownProvider(named: nil) }
        if !wasEncrypted, slot.provider.mustEncrypt(kind) { throw .encryption(.required(kind)) }
        return try verify(token, try slot.slot(ofConnection: connection))
    }
}
