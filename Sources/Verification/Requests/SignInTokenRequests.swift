internal import HTTP
package import IDToken
internal import JOSE
internal import OAuth

/// A token that comes with a sign-in, beside the ID Token that it ends with: an `id_token_hint`, a signed authorization
/// response, or a UserInfo response that is a JWT.
package struct SignInToken: Sendable {
    let text: ArraySlice<UInt8>
    /// The number of the provider.
    let provider: Int
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    /// The client that the token must be for.
    package let clientID: String
    private(set) var wasEncrypted = false

    package init(_ text: ArraySlice<UInt8>, ofProvider provider: Int, _ connection: Connection?, clientID: String) {
        self.text = text
        self.provider = provider
        self.connection = connection
        self.clientID = clientID
    }

    fileprivate init(_ token: SignInToken, inside opened: OpenedToken) {
        self.init(opened.content, ofProvider: token.provider, token.connection, clientID: token.clientID)
        wasEncrypted = true
    }
}

/// An `id_token_hint` that holds: an ID Token that the provider once issued to the client, which names a person to the
/// provider.
package struct HintAnswer {
    package let hint: VerifiedHint
    /// The signed token, also if it came encrypted.
    package let text: ArraySlice<UInt8>
    /// Whether it came encrypted, so that what is inside must not be shown to everyone who sees a URL.
    package let wasEncrypted: Bool
}

/// Keys, waiting and decryption work as for ID Tokens.
extension RequestVerifier {
    /// Verifies an `id_token_hint`: that it is this provider's and this client's, but not its age; see
    /// ``IDToken/IDTokenVerifier/verifyHint(_:with:algorithms:under:audience:now:)``.
    package func verify(hint: SignInToken, at now: VerificationTime) -> Outcome<HintAnswer> {
        verify(hint, of: .idToken, at: now) { token, policy, _ throws(Rejection) in
            try token.checkHintClaims(of: policy)
        } verifying: { hint, token, policy, keys, now throws(Rejection) in
            let verified = try self.verifier.verifyHint(
                token, with: keys.keys, algorithms: keys.algorithms, under: policy, audience: hint.clientID, now: now)
            return HintAnswer(hint: verified, text: hint.text, wasEncrypted: hint.wasEncrypted)
        }
    }

    /// Verifies a signed authorization response (JARM), which answers the request of one sign-in.
    package func verify(response: SignInToken, at now: VerificationTime) -> Outcome<VerifiedResponse> {
        verify(response, of: .response, at: now) { token, policy, now throws(Rejection) in
            try token.checkClaims(of: policy, now: now)
        } verifying: { response, token, policy, keys, now throws(Rejection) in
            try self.verifier.verifyResponse(
                token, with: keys.keys, under: policy, audience: response.clientID, now: now)
        }
    }

    /// Verifies a UserInfo response that is a JWT; see
    /// ``IDToken/IDTokenVerifier/verifyUserInfo(_:with:under:clientID:subject:now:)``.
    ///
    /// - Parameter subject: the ID Token's.
    /// - Returns: the claims, as JSON. The problem of one that is refused says why as ``Problem/ofUserInfo`` has it.
    package func verify(userInfo: SignInToken, of subject: String, at now: VerificationTime) -> Outcome<[UInt8]> {
        verify(userInfo, of: .userInfo, at: now) { _, _, _ throws(Rejection) in
            // The provider itself has sent the token, so it may cause a fetch whatever it says.
        } verifying: { userInfo, token, policy, keys, now throws(Rejection) in
            try self.verifier.verifyUserInfo(
                token, with: keys.keys, under: policy, clientID: userInfo.clientID, subject: subject, now: now)
        }
    }

    /// - Parameters:
    ///   - kind: what the provider may have to encrypt.
    ///   - checkClaims: checks the claims that must pass before keys are fetched for the token.
    ///   - verify: verifies the token; of an encrypted one, what was inside.
    private func verify<Answer>(
        _ request: SignInToken, of kind: EncryptionRules.Kind, at now: VerificationTime,
        checkingClaims checkClaims: @escaping (UnverifiedToken, ProviderPolicy, UnixTime) throws(Rejection) -> Void,
        verifying verify:
            @escaping (
                SignInToken, UnverifiedToken, ProviderPolicy, LoopKeySnapshot.Latest, UnixTime
            ) throws(Rejection) -> Answer
    ) -> Outcome<Answer> {
        let index = request.provider
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                // The bound of the provider's responses applies to UserInfo, as to claims that come as JSON.
                token = try verifier.read(
                    request.text, upTo: kind == .userInfo ? request.text.count : verifier.maximumTokenLength)
            } catch {
                let opening = try opener(index, error, of: .idToken).opening(request.text) { opened, now in
                    self.verify(
                        SignInToken(request, inside: opened), of: kind, at: now, checkingClaims: checkClaims,
                        verifying: verify)
                }
                return .pending(.opening(opening))
            }
            guard let provider = slots[index] else { throw unknownProvider(named: nil) }
            if !request.wasEncrypted, provider.provider.mustEncrypt(kind) { throw .encryption(.required(kind)) }
            let slot = try provider.slot(ofConnection: request.connection)
            return try attempt(token, index, slot, now, of: .idToken) { () throws(Rejection) in
                try checkClaims(token, slot.policy, now.wall)
            } checkingHeader: { () throws(Rejection) in
                try verifier.checkHeader(token, under: slot.policy)
            } verifying: { keys throws(Rejection) in
                try verify(request, token, slot.policy, keys, now.wall)
            }
        } catch {
            return .decided(.refused(error, provider: index))
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
