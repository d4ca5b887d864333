package import HTTP
internal import IDToken
internal import Keys
package import NIOCore
package import OAuth
internal import OpenSSL
package import Verification

/// A finish, refresh or revocation under way: the settings that it began with, the time that its steps share, and what
/// it has done. Confined to its event loop.
///
/// Its steps are plain functions that wait. Nothing is used up before the claim of a sign-in, or before something is
/// sent to the provider. From then on it runs to its end, because the caller must learn whether it was used up.
package final class Operation {
    /// Has the providers' settings under which the request began, even if they are reloaded meanwhile.
    let verifier: RequestVerifier
    private let keysTimeout: Interval
    private let callTimeout: Interval
    private let time: SharedTime

    /// The number of the provider; `nil` if it is not known.
    package internal(set) var provider: Int?
    /// The connection of the request or the handle, and the rules for its tokens; `nil` unless the provider has
    /// `issuers: any`.
    private var chosen: (connection: Connection, policy: ProviderPolicy)?
    /// The claim of the sign-in; `nil` if there was none.
    package internal(set) var claim: ClaimStore.Made?
    /// Whether a claim that was made has been released; `nil` if none was to be.
    package internal(set) var release: EventLoopFuture<Bool>?
    /// How it uses the provider's token endpoint; `nil` if it does not, or has not come that far.
    package internal(set) var grant: GrantOperation?
    /// The requests to the provider.
    package private(set) var calls: [CallReport] = []
    /// The code of the verdict on each ID Token, with the number of its provider.
    package private(set) var verdicts: [(provider: Int?, code: String)] = []
    /// Whether the sign-in, code or refresh token is used up, or may be; `nil`: none was to be sent to the provider
    /// yet, so the problem decides (``Problem/isSpent``).
    ///
    /// ``GrantCalls/exchange(_:provenBy:at:_:)`` sets it, because it alone sends those; a refresh, and the release of a
    /// claim, decide it anew.
    package internal(set) var isSpent: Bool?
    /// Whether the provider has returned a grant, which is dropped if the operation fails.
    package internal(set) var holdsGrant = false

    /// - Parameters:
    ///   - keysTimeout: how long to wait for keys.
    ///   - callTimeout: how long one call to the provider may take.
    package init(
        by verifier: RequestVerifier, at now: MonotonicTime, keysTimeout: Interval, callTimeout: Interval
    ) {
        self.verifier = verifier
        self.keysTimeout = keysTimeout
        self.callTimeout = callTimeout
        time = SharedTime(from: now)
    }

    /// The provider that the request or the handle names; `nil` if it is not configured.
    func find(_ id: String) -> Provider? {
        guard let (number, provider) = verifier.provider(id) else { return nil }
        self.provider = number
        return provider
    }

    /// - Throws: ``Problem/providerUnknown(nearest:)``.
    func provider(named id: String) throws(Problem) -> Provider {
        guard let provider = find(id) else { throw verifier.unknownProvider(named: id) }
        return provider
    }

    /// Chooses one of the provider's issuers: that of the connection, if the provider has `issuers: any`.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` if the provider needs a connection and there is none, or the other way
    ///   round, or if the connection's issuer can't be used.
    func choose(_ connection: Connection?, of provider: Provider) throws(Problem) {
        guard let number = self.provider, provider.issuers?.isOpen == true else {
            if connection != nil { throw .connectionNotOpen }
            return
        }
        guard let connection else { throw .connectionIncomplete }
        chosen = try verifier.policy(ofProvider: number, connection).map { (connection, $0) }
    }

    var connection: Connection? { chosen?.connection }

    func policy(of provider: Provider) -> ProviderPolicy { chosen?.policy ?? provider.policy }

    /// `nil` if the provider has no clients.
    func grantRules(of provider: Provider) -> GrantRules? {
        guard let rules = provider.grants?.rules, let connection else { return provider.grants?.rules }
        return rules.ofConnection(connection.id, clientID: connection.audience)
    }

    /// The endpoints of the discovery document; `nil` if none has been read yet.
    var discovered: DiscoveredEndpoints? {
        provider.flatMap { verifier.discoveredEndpoints(ofProvider: $0, connection) }
    }

    // MARK: Steps

    var keysDeadline: MonotonicTime { time.deadline(of: keysTimeout, from: SystemClocks.monotonic()) }

    /// The deadline of one call to the provider.
    var callDeadline: MonotonicTime { time.deadline(of: callTimeout, from: SystemClocks.monotonic()) }

    /// The verdict on a token, after waiting for keys if it depends on them.
    ///
    /// - Parameters:
    ///   - begun: the outcome of a verification that has begun.
    ///   - isPaidFor: whether a code or a grant was used up for the token.
    func verdict<Answer>(
        after begun: RequestVerifier.Outcome<Answer>? = nil, isPaidFor: Bool = false,
        verifying verify: (VerificationTime) -> RequestVerifier.Outcome<Answer>
    ) async -> Verdict<Answer> {
        switch begun ?? verify(.now()) {
        case .decided(let verdict): verdict
        case .pending(let wait):
            await verifier.verdict(after: wait, until: keysDeadline, isPaidFor: isPaidFor, verifyingAgain: verify)
        }
    }

    /// - Throws: the problem of a token that is refused.
    func accept(_ verdict: Verdict<VerifyAnswer>) throws(Problem) -> VerifyAnswer {
        verdicts.append((verdict.provider, verdict.code))
        return try verdict.get()
    }

    /// Verifies an ID Token that a code or a grant was used up for.
    ///
    /// - Throws: the problem of a token that is refused.
    func verify(_ request: VerifyRequest) async throws(Problem) -> VerifyAnswer {
        try accept(await verdict(isPaidFor: true) { verifier.verify(request, at: $0) })
    }

    /// - Throws: the problem of a token that is refused.
    func verify(
        _ request: VerifyRequest, after begun: RequestVerifier.Outcome<VerifyAnswer>
    ) async throws(Problem) -> VerifyAnswer {
        try accept(await verdict(after: begun) { verifier.verify(request, at: $0) })
    }

    /// A token of the provider and connection that comes with the sign-in.
    ///
    /// - Throws: ``Problem/endpointUnknown`` before there is a provider.
    func token(_ text: ArraySlice<UInt8>, clientID: String) throws(Problem) -> SignInToken {
        guard let provider else { throw .endpointUnknown }
        return SignInToken(text, ofProvider: provider, connection, clientID: clientID)
    }

    /// Verifies an `id_token_hint`.
    ///
    /// - Throws: the problem of a hint that is refused.
    func verify(hint text: ArraySlice<UInt8>, clientID: String) async throws(Problem) -> HintAnswer {
        let hint = try token(text, clientID: clientID)
        do throws(Problem) {
            return try await verdict { verifier.verify(hint: hint, at: $0) }.get()
        } catch {
            throw error.naming(clientID)
        }
    }

    /// Verifies a UserInfo response that is a JWT. Its grant is used up.
    ///
    /// - Returns: the claims, as JSON.
    /// - Throws: the problem of one that is refused.
    func userInfo(in text: [UInt8], of subject: String, clientID: String) async throws(Problem) -> [UInt8] {
        let token = try token(text[...], clientID: clientID)
        do throws(Problem) {
            return try await verdict(isPaidFor: true) { verifier.verify(userInfo: token, of: subject, at: $0) }.get()
        } catch {
            throw error.ofUserInfo
        }
    }

    /// Waits for keys that ID Tokens can be verified with, before a code is sent.
    ///
    /// - Throws: ``Problem/keysUnavailable(retryAfterSeconds:)``.
    func requireUsableKeys() async throws(Problem) {
        guard let provider else { return }
        try await verifier.requireUsableKeys(ofProvider: provider, connection, until: keysDeadline)
    }

    /// Waits for the discovery document of a connection's issuer, which is read together with its keys.
    ///
    /// - Throws: ``Problem/providerUnavailable(retryAfterSeconds:limit:)``.
    func requireDocument() async throws(Problem) {
        guard connection != nil, discovered == nil else { return }
        do throws(Problem) {
            try await requireUsableKeys()
        } catch {
            guard case .keysUnavailable(let seconds) = error else { throw error }
            throw .providerUnavailable(retryAfterSeconds: seconds)
        }
    }

    /// Waits for a call to the provider.
    func result<Value>(of call: EventLoopFuture<Called<Value>>) async -> Result<Value, CallFailure> {
        guard let called = try? await call.get() else { return .failure(.unavailable(.broken)) }
        calls += called.reports
        return called.result
    }
}

extension Verdict {
    /// - Throws: the problem of a token that is refused.
    func get() throws(Problem) -> Answer {
        switch self {
        case .verified(let answer, _): return answer
        case .refused(let problem, _): throw problem
        }
    }
}

/// The time that all steps of a request share: waiting for keys, the claim, and the calls to a provider.
///
/// With the store's answers it is 10 s, less than the 12 s that clients wait: a backend must learn whether a code was
/// used up.
struct SharedTime: Sendable {
    /// Half a second is left for the claim or its release, which may be the last step (`sign_ins.store.timeout` is 250 ms
    /// by default).
    static let ofSteps = Interval(milliseconds: 9500)

    private let end: MonotonicTime

    init(from begunAt: MonotonicTime) { end = begunAt + Self.ofSteps }

    /// The deadline of a step that begins now and has a timeout of its own.
    func deadline(of timeout: Interval, from now: MonotonicTime) -> MonotonicTime { min(now + timeout, end) }
}

/// What an operation does with a grant.
package enum GrantOperation: String, Sendable {
    case exchange, refresh, revoke
}

/// A value from OpenSSL.
///
/// - Throws: ``Problem/rejected(_:of:)`` if OpenSSL fails, as when out of memory.
func openSSL<Value>(_ value: @autoclosure () throws(OpenSSLError) -> Value) throws(Problem) -> Value {
    do throws(OpenSSLError) { return try value() } catch { throw .rejected(.cryptographyUnavailable) }
}
