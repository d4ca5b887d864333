internal import HTTP
internal import IDToken
internal import OAuth

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
            let token: UnverifiedToken
            do throws(Rejection) {
                // The bound of the provider's responses applies, as to claims that come as JSON.
                token = try verifier.read(request.text, upTo: request.text.count)
            } catch {
                return .pending(
                    .opening(
                        try opener(index, error, of: .idToken).opening(request.text) { opened, now in
                            self.verify(request.inside(opened), at: now)
                        }))
            }
            guard let slot = slots[index] else { throw unknownProvider(named: nil) }
            if !request.isOpened, slot.provider.mustEncrypt(.userInfo) { throw .encryption(.required(.userInfo)) }
            return try verify(token, request, try slot.slot(ofConnection: request.connection), now)
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
