package import HTTP
internal import IDToken
internal import Keys
internal import NIOCore

/// Handles tokens for which the current keys can't give a final verdict.
extension RequestVerifier {
    /// A verdict, or the keys to wait for, because newer keys could change the verdict.
    package enum Outcome<Answer> {
        case decided(Verdict<Answer>)
        case pending(Wait<Answer>)

        /// The number of the token's provider; `nil` if there is none.
        package var provider: Int? {
            switch self {
            case .decided(let verdict): verdict.provider
            case .pending(let wait): wait.provider
            }
        }

        /// Asks for the keys before anyone waits for them, so that several tokens' fetches run at the same time.
        package mutating func start(until deadline: MonotonicTime) {
            guard case .pending(.keys(var wait)) = self else { return }
            wait.started = wait.fetch(until: deadline)
            self = .pending(.keys(wait))
        }
    }

    /// What a request waits for.
    package enum Wait<Answer> {
        case keys(KeyWait)
        /// Its turn to decrypt.
        case opening(Opening<Answer>)

        var provider: Int {
            switch self {
            case .keys(let wait): wait.provider
            case .opening(let opening): opening.provider
            }
        }
    }

    /// The reason why a request waits for newer keys.
    package struct KeyWait {
        let keys: KeySource
        /// The kind of fetch that could help.
        let need: KeyStore.StateMachine.FetchReason
        /// The version of the keys that gave the current verdict.
        let version: Int
        /// Whether the token's key may have been published since the last fetch. If so and the provider can't be
        /// reached, the token's validity is unknown. If not, the verdict with the current keys is final.
        let isMissingKey: Bool
        let provider: Int
        /// The verdict with the current keys.
        let currentProblem: Problem
        /// `nil` if nobody has asked for the keys yet.
        fileprivate var started: EventLoopFuture<KeyStore.StateMachine.Outcome>?
    }

    /// Verifies a token of any kind with the current keys, and waits for newer keys only if they could change the
    /// verdict.
    ///
    /// A token that can be rejected without keys is rejected at once. Keys are fetched only for a token that could
    /// pass.
    ///
    /// - Parameters:
    ///   - kind: the expected kind of token.
    ///   - checkClaims: checks the claims that must pass before keys are fetched for the token.
    ///   - checkHeader: the checks that need no keys.
    /// - Throws: the problem for a rejection that no newer keys could change.
    @inline(__always)
    func attempt<Answer>(
        _ token: UnverifiedToken, _ index: Int, _ slot: ProviderSlot, _ now: VerificationTime,
        of kind: Problem.TokenKind, checkingClaims checkClaims: () throws(Rejection) -> Void,
        checkingHeader checkHeader: () throws(Rejection) -> Void,
        verifying verify: (LoopKeySnapshot.Latest) throws(Rejection) -> Answer
    ) throws(Problem) -> Outcome<Answer> {
        guard let keys = slot.keys(usableAt: now.monotonic) else {
            do throws(Rejection) { try checkHeader() } catch { throw .rejected(error, of: kind) }
            var mayFetch = true
            do throws(Rejection) {
                try checkClaims()
            } catch {
                // Nothing fetches these keys but requests, so waiting for them would never end.
                if slot.source.isLazy { throw .rejected(error, of: kind) }
                mayFetch = false
            }
            return .pending(.keys(KeyWait(without: slot, index, mayFetch: mayFetch)))
        }
        do throws(Rejection) {
            let answer = try verify(keys)
            slot.noteUse(at: now.monotonic)
            return .decided(.verified(answer, provider: index))
        } catch {
            if error.isAfterSignature { slot.noteUse(at: now.monotonic) }
            let problem = Problem.rejected(error, of: kind)
            guard let need = keys.snapshot.need(after: error, for: token, slot.policy, now.monotonic) else {
                throw problem
            }
            do throws(Rejection) { try checkClaims() } catch { throw problem }
            return .pending(
                .keys(
                    KeyWait(
                        keys: slot.source, need: need, version: keys.snapshot.version,
                        isMissingKey: error == .keyNotFound || !(token.keyID.map(keys.snapshot.hasKey) ?? true),
                        provider: index, currentProblem: problem)))
        }
    }

    /// Waits, and verifies again: for the turn to decrypt, or for the provider's keys.
    ///
    /// - Parameters:
    ///   - isPaidFor: whether the token has just been issued for a code or a grant that is used up.
    ///   - verify: the verification whose outcome is pending.
    package func verdict<Answer>(
        after first: Wait<Answer>, until deadline: MonotonicTime, isPaidFor: Bool = false,
        verifyingAgain verify: (VerificationTime) -> Outcome<Answer>
    ) async -> Verdict<Answer> {
        var wait: KeyWait
        switch first {
        case .keys(let first): wait = first
        case .opening(let opening): return await verdict(after: opening, until: deadline, isPaidFor: isPaidFor)
        }
        // The provider's shared fetch runs on another loop.
        // This terminates: each round uses newer keys, and the deadline applies to all rounds.
        while true {
            let fetch = await wait.outcome(until: deadline)
            switch fetch {
            case .unchanged: return .refused(wait.currentProblem, provider: wait.provider)
            case .unavailable(let retryAfter):
                // A rejection would be final, but the token may be valid: its key could not be fetched.
                let problem = wait.isMissingKey ? Problem.keysUnavailable(retryAfter) : wait.currentProblem
                return .refused(problem, provider: wait.provider)
            case .refreshed, .retry: break
            }
            switch verify(.now()) {
            case .decided(let verdict): return verdict
            case .pending(.keys(let next)):
                guard fetch == .retry else { return .refused(next.currentProblem, provider: next.provider) }
                wait = next
            // The same token was not encrypted before.
            case .pending(.opening(let opening)):
                return .refused(wait.currentProblem, provider: opening.provider)
            }
        }
    }

    /// Opens a token in its turn, and verifies what is inside.
    private func verdict<Answer>(
        after opening: Opening<Answer>, until deadline: MonotonicTime, isPaidFor: Bool
    ) async -> Verdict<Answer> {
        let opened: OpenedToken
        do throws(Problem) {
            opened = try await open(opening, isPaidFor: isPaidFor)
        } catch {
            return .refused(error, provider: opening.provider)
        }
        switch opening.verify(opened, .now()) {
        case .decided(let verdict): return verdict
        case .pending(let wait):
            guard case .keys = wait else {
                // A token that has been opened is not encrypted once more.
                return .refused(.encryption(.headerUnsupported), provider: opening.provider)
            }
            return await verdict(after: wait, until: deadline) { opening.verify(opened, $0) }
        }
    }

    /// Waits until the provider has keys that ID Tokens can be verified with.
    ///
    /// - Parameter connection: the request's, for a provider with `issuers: any`. Its issuer's discovery document has
    ///   then been read too.
    /// - Throws: ``Problem/keysUnavailable(retryAfterSeconds:)`` if there are none by the deadline;
    ///   ``Problem/requestInvalid(_:)`` if the connection's issuer can't be used.
    package func requireUsableKeys(
        ofProvider number: Int, _ connection: Connection? = nil, until deadline: MonotonicTime
    ) async throws(Problem) {
        guard let entry = slots[number] else { return }
        func slot() throws(Problem) -> ProviderSlot { try entry.slot(ofConnection: connection) }
        func areUsable() throws(Problem) -> Bool { try slot().keys(usableAt: SystemClocks.monotonic()) != nil }
        if try areUsable() { return }
        let fetch = await KeyWait(without: try slot(), number, mayFetch: true).outcome(until: deadline)
        if try areUsable() { return }
        if case .unavailable(let retryAfter) = fetch { throw .keysUnavailable(retryAfter) }
        throw .keysUnavailable(retryAfterSeconds: 1)
    }
}

extension RequestVerifier.KeyWait {
    /// Waits for a provider's first usable keys.
    fileprivate init(without slot: RequestVerifier.ProviderSlot, _ index: Int, mayFetch: Bool) {
        self.init(
            keys: slot.source, need: .anyKeys(mayFetch: mayFetch), version: slot.keys?.snapshot.version ?? 0,
            isMissingKey: true, provider: index, currentProblem: .keysUnavailable(retryAfterSeconds: 1))
    }

    fileprivate func fetch(until deadline: MonotonicTime) -> EventLoopFuture<KeyStore.StateMachine.Outcome> {
        keys.wait(for: need, judgedBy: version, until: deadline)
    }

    fileprivate func outcome(until deadline: MonotonicTime) async -> KeyStore.StateMachine.Outcome {
        let fetch = started ?? fetch(until: deadline)
        return (try? await fetch.get()) ?? .unavailable(retryAfter: .seconds(1))
    }
}

/// Whom to ask for newer keys.
enum KeySource {
    case store(KeyStore)
    /// The keys of one issuer of an entry with many, for the event loop of this number.
    case pool(IssuerPool, issuer: String, reader: IssuerPool.ReaderID?)

    /// Whether keys are fetched only for requests.
    var isLazy: Bool { if case .pool = self { true } else { false } }

    /// Waits until the needed keys arrive, or can't.
    func wait(
        for need: KeyStore.StateMachine.FetchReason, judgedBy version: Int, until deadline: MonotonicTime
    ) -> EventLoopFuture<KeyStore.StateMachine.Outcome> {
        switch self {
        case .store(let store): store.wait(for: need, judgedBy: version, until: deadline)
        case .pool(let pool, let issuer, let reader):
            pool.wait(for: need, of: issuer, judgedBy: version, until: deadline, by: reader)
        }
    }

    /// The state, for operators.
    func status() async -> KeyStatus? {
        switch self {
        case .store(let store): try? await store.status().get()
        case .pool(let pool, let issuer, _): try? await pool.status(of: issuer).get()
        }
    }

    /// Notes that a key that was fetched for a token has verified one.
    func prove(_ keyID: String) { if case .store(let store) = self { store.prove(keyID) } }
}

extension Rejection {
    /// Whether the check that failed comes after that of the signature.
    fileprivate var isAfterSignature: Bool {
        switch self {
        case .tokenMalformed, .headerUnsupported, .algorithmNotAllowed, .keyNotFound, .keyUnsuitable,
            .signatureInvalid, .cryptographyUnavailable:
            false
        default: true
        }
    }
}

extension KeySnapshot {
    /// The kind of fetch that could change a rejection; `nil` if none could.
    fileprivate func need(
        after rejection: Rejection, for token: UnverifiedToken, _ policy: ProviderPolicy, _ now: MonotonicTime
    ) -> KeyStore.StateMachine.FetchReason? {
        rejection.keyFault.flatMap {
            need(
                after: $0, keyID: token.keyID,
                mayAllowAlgorithm: policy.algorithms == nil && token.algorithm != nil, at: now)
        }
    }
}

extension Problem {
    static func keysUnavailable(_ retryAfter: Interval) -> Problem {
        .keysUnavailable(retryAfterSeconds: max(retryAfter.secondsRoundedUp, 1))
    }
}
