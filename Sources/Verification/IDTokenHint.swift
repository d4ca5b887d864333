internal import HTTP
package import IDToken

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
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.idToken)
            } catch {
                return .pending(
                    .opening(
                        try opener(index, error, of: .idToken).opening(request.idToken) { opened, now in
                            self.verify(HintRequest(request, inside: opened), at: now)
                        }))
            }
            guard let slot = slots[index] else { throw unknownProvider(named: nil) }
            if request.encryption == nil, slot.provider.mustEncrypt(.idToken) {
                throw .encryption(.required(.idToken))
            }
            return try verify(token, request, try slot.slot(ofConnection: request.connection), now)
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
