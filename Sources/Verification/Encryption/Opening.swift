internal import HTTP
internal import IDToken
internal import JOSE
private import TokenDiagnostics

/// Opens encrypted tokens, and verifies what is inside. A signed token never comes here: it has three parts.
extension RequestVerifier {
    /// An encrypted token whose header is acceptable, and what to do with its content.
    package struct Opening<Answer> {
        /// The number of the provider.
        let provider: Int
        let encryption: TokenEncryption
        let jwe: CompactJWE
        let verify: (OpenedToken, VerificationTime) -> Outcome<Answer>
    }

    /// Opens a token when it is its turn.
    ///
    /// - Throws: ``Problem/encryption(_:)``, ``Problem/overloaded(limit:)``.
    func open<Answer>(_ opening: Opening<Answer>, isPaidFor: Bool) async throws(Problem) -> OpenedToken {
        guard let decryptions else { return try opening.encryption.open(opening.jwe) }
        return try await decryptions.run(isPaidFor: isPaidFor) { () throws(Problem) in
            try opening.encryption.open(opening.jwe)
        }
    }

    /// - Parameters:
    ///   - index: of the provider that the request names.
    ///   - rejection: why the token was not read.
    /// - Throws: the problem of a token that is not encrypted, or can't be opened.
    func opening(
        _ request: VerifyRequest, _ index: Int?, refusedWith rejection: Rejection
    ) throws(Problem) -> Opening<VerifyAnswer> {
        let slot = try opener(index, rejection, of: .idToken)
        // Which line of a list applies is only known once the token is open.
        if slot.slot.provider.issuers?.list == nil {
            try request.check(against: try slot.slot.slot(ofConnection: request.connection).policy)
        }
        return Opening(
            provider: slot.index, encryption: slot.encryption, jwe: try slot.encryption.read(request.idToken)
        ) { opened, now in self.verify(VerifyRequest(request, inside: opened), at: now) }
    }

    /// - Parameters:
    ///   - index: of the provider that the request names.
    ///   - rejection: why the notification was not read.
    /// - Throws: the problem of a notification that is not encrypted, or can't be opened.
    func opening(
        _ request: NotificationRequest, _ index: Int?, refusedWith rejection: Rejection
    ) throws(Problem) -> Opening<NotificationAnswer> {
        let slot = try opener(index, rejection, of: .notification)
        return Opening(
            provider: slot.index, encryption: slot.encryption, jwe: try slot.encryption.read(request.token)
        ) { opened, now in self.verify(NotificationRequest(request, inside: opened), at: now) }
    }

    /// The provider whose rules open an encrypted token: only the request can name it, because the token does not show
    /// its issuer.
    func opener(
        _ index: Int?, _ rejection: Rejection, of kind: Problem.TokenKind
    ) throws(Problem) -> (index: Int, slot: ProviderSlot, encryption: TokenEncryption) {
        guard rejection == .tokenMalformed(.encrypted) else { throw .rejected(rejection, of: kind) }
        guard let index, let slot = slots[index] else {
            guard slots.contains(where: { $0?.provider.encryption != nil }) else {
                throw .rejected(rejection, of: kind)
            }
            throw .requestInvalid(
                "The token is encrypted, so it does not show its issuer; name the provider in a member provider.")
        }
        guard let encryption = slot.provider.encryption else { throw .rejected(rejection, of: kind) }
        return (index, slot, encryption)
    }

    /// Verifies the token of a provider that must encrypt its ID Tokens, or refuses a name that no provider has.
    @inline(never)
    func verify(
        _ request: VerifyRequest, onlyEncryptedBy named: String, _ now: VerificationTime
    ) throws(Problem) -> Outcome<VerifyAnswer> {
        guard let index = ofIDTokens.named(named), let slot = slots[index] else {
            throw noProvider(named: named, ofAccessTokens: false)
        }
        do throws(Problem) {
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.idToken)
            } catch {
                return .pending(.opening(try opening(request, index, refusedWith: error)))
            }
            guard request.extras?.encryption != nil else { throw .encryption(.required(.idToken)) }
            return try verify(token, request, index, slot, now)
        } catch {
            return .decided(.refused(error.naming(request.parameters.audience), provider: index))
        }
    }

    /// The problem if none of the providers that need not encrypt has a token's issuer.
    func noProvider(ofPlain token: UnverifiedToken) -> Problem {
        let issuer = token.unverifiedIssuer
        if issuer.flatMap({ ofIDTokens.withIssuer($0, slots) }) != nil { return .encryption(.required(.idToken)) }
        return noProvider(named: nil, issuer: issuer, ofAccessTokens: false)
    }
}

extension VerifyRequest {
    /// The same request for the token that was inside its encrypted one.
    convenience init(_ request: VerifyRequest, inside opened: OpenedToken) {
        self.init(
            opened.content, request.provider, request.parameters,
            AnswerExtras(
                includesClaims: request.extras?.includesClaims == true, opened.encryption,
                connection: request.connection?.id), request.connection)
    }

    /// The same request without what a token's owner alone may compare.
    var concealing: VerifyRequest {
        VerifyRequest(idToken, provider, parameters.concealing, extras, connection)
    }
}
