internal import HTTP
internal import IDToken
internal import JOSE
package import NIOCore
private import TokenDiagnostics

/// Opens encrypted tokens, and verifies what is inside. A signed token never comes here: it has three parts.
extension RequestVerifier {
    /// An encrypted token whose header is acceptable, and what to do with its content.
    // A class, so that what waits for keys, which is most of what waits, is no larger than that.
    package final class Opening<Answer> {
        /// The number of the provider.
        let provider: Int
        let encryption: TokenEncryption
        let jwe: CompactJWE
        let verify: (OpenedToken, VerificationTime) -> Outcome<Answer>

        init(
            provider: Int, encryption: TokenEncryption, jwe: CompactJWE,
            verify: @escaping (OpenedToken, VerificationTime) -> Outcome<Answer>
        ) {
            self.provider = provider
            self.encryption = encryption
            self.jwe = jwe
            self.verify = verify
        }
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
        return try slot.opening(request.idToken) { opened, now in
            self.verify(VerifyRequest(request, inside: opened), at: now)
        }
    }

    /// A provider whose rules open an encrypted token.
    struct Opener {
        let index: Int
        let slot: ProviderSlot
        let encryption: TokenEncryption

        /// - Parameter verify: verifies what is inside.
        /// - Throws: ``Problem/encryption(_:)`` for a header that is not acceptable.
        func opening<Answer>(
            _ text: ArraySlice<UInt8>, verifying verify: @escaping (OpenedToken, VerificationTime) -> Outcome<Answer>
        ) throws(Problem) -> Opening<Answer> {
            Opening(provider: index, encryption: encryption, jwe: try encryption.read(text), verify: verify)
        }
    }

    /// The provider whose rules open an encrypted token: only the request can name it, because the token does not show
    /// its issuer.
    ///
    /// - Parameters:
    ///   - index: of the provider that the request names.
    ///   - rejection: why the token was not read.
    /// - Throws: the problem of a token that is not encrypted, or can't be opened.
    func opener(_ index: Int?, _ rejection: Rejection, of kind: Problem.TokenKind) throws(Problem) -> Opener {
        guard rejection == .tokenMalformed(.encrypted) else { throw .rejected(rejection, of: kind) }
        guard let index, let slot = slots[index] else {
            guard slots.contains(where: { $0?.provider.encryption != nil }) else {
                throw .rejected(rejection, of: kind)
            }
            throw .requestInvalid(
                "The token is encrypted, so it does not show its issuer; name the provider in a member provider.")
        }
        guard let encryption = slot.provider.encryption else { throw .rejected(rejection, of: kind) }
        return Opener(index: index, slot: slot, encryption: encryption)
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
            return try verify(
                token, request, index, slot.slot(for: token, request.connection, of: .idToken), now)
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

/// Lets one decryption at a time run on an event loop, and other requests in between: a private operation takes up to
/// some milliseconds. Confined to its loop.
package final class DecryptionQueue {
    private let loop: any EventLoop
    /// Whether a decryption runs, or has just ended.
    private var isBusy = false
    /// Those for which a code or a grant was used up. They go first, and are as few as calls to providers.
    private var paidFor: [EventLoopPromise<Void>] = []
    private var others: [EventLoopPromise<Void>] = []

    /// The most that wait on a loop, apart from those that were paid for.
    package static let maximumWaiting = 64
    /// Between two decryptions, so that the loop reads from its sockets: tasks that are due at once would run first.
    private static let pause = TimeAmount.microseconds(50)

    package init(on loop: any EventLoop) { self.loop = loop }

    /// Waits for its turn, and decrypts.
    ///
    /// - Throws: ``Problem/overloaded(limit:)`` if too many wait, and what `decrypt` throws.
    func run<Result>(
        isPaidFor: Bool, _ decrypt: () throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        if isBusy {
            guard isPaidFor || others.count < Self.maximumWaiting else {
                throw .overloaded(limit: "\(Self.maximumWaiting) waiting decryptions on an event loop")
            }
            let turn = loop.makePromise(of: Void.self)
            if isPaidFor { paidFor.append(turn) } else { others.append(turn) }
            // The queue never fails a promise.
            try? await turn.futureResult.get()
        }
        isBusy = true
        defer { ended() }
        return try decrypt()
    }

    private func ended() { loop.assumeIsolated().scheduleTask(in: Self.pause) { self.next() } }

    private func next() {
        if !paidFor.isEmpty {
            paidFor.removeFirst().succeed()
        } else if !others.isEmpty {
            others.removeFirst().succeed()
        } else {
            isBusy = false
        }
    }
}

@available(*, unavailable) extension DecryptionQueue: Sendable {}
