package import HTTP
package import IDToken
package import Keys
package import NIOCore
private import OpenSSL

/// Calls one provider's endpoints: token, revocation, UserInfo, introspection, pushed authorization requests, and
/// Apple's user migration.
///
/// It opens a connection first, then authenticates the request, then sends it. So if anything fails before sending,
/// the request is known to be unsent. Everything runs on one event loop, which serves no requests.
///
/// A call's future never fails, and completes on ``loop`` by the deadline, which is for all of the call's requests.
package final class ProviderCalls: Sendable {
    package let loop: any EventLoop
    /// Begins calls, so that a crowd of them does not delay the answers to the first.
    let turns: LoopTurns
    /// Runs the steps of dialing.
    let dialing: LoopExecutor
    let dialer: ProviderDialer
    let idleTimeout: Interval
    let onReport: @Sendable (CallReport) -> Void
    let state: NIOLoopBoundBox<State>
    private let quirks: Set<ProviderQuirk>
    /// The relying party's own keys, which sign the authorization requests of clients without a key.
    let ownKeys: ClientKeys

    struct State {
        /// By the ID of a client of the settings.
        var authenticators: [String: ClientAuthenticator]
        /// `nil` if requests name no client that has a key.
        var assertionKey: ClientSigningKey?
        var pool: ConnectionPool<ClientConnection>
        /// Whether a timer will remove connections that were idle for too long.
        var isSweeping = false
        var isStopped = false
    }

    private static let revocationTries = 3

    /// - Parameters:
    ///   - credentials: by client ID.
    ///   - assertionKey: of clients that requests name; `nil` if they have none.
    ///   - ownKeys: the relying party's own.
    ///   - quirks: how the provider's answers differ from the protocol.
    ///   - keptConnections: how many idle connections to keep: the usual number of calls in flight, so that connections
    ///     whose responses arrive together are all kept.
    ///   - loop: must not serve requests.
    ///   - onReport: called on that loop after each request.
    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, credentials: [String: ClientCredential],
        assertionKey: ClientSigningKey? = nil, ownKeys: ClientKeys = ClientKeys(), quirks: Set<ProviderQuirk>,
        keptConnections: Int, on loop: any EventLoop,
        onReport: @escaping @Sendable (CallReport) -> Void
    ) {
        self.loop = loop
        turns = LoopTurns(on: loop)
        dialing = LoopExecutor(loop)
        dialer = ProviderDialer(rules: rules, proxy: proxy, loop: loop, unixSeconds: SystemClocks.unixSeconds)
        idleTimeout = rules.idleTimeout
        self.quirks = quirks
        self.ownKeys = ownKeys
        self.onReport = onReport
        let authenticators = credentials.map { ($0, ClientAuthenticator(clientID: $0, $1)) }
        state = NIOLoopBoundBox.makeBoxSendingValue(
            State(
                authenticators: Dictionary(uniqueKeysWithValues: authenticators), assertionKey: assertionKey,
                pool: ConnectionPool(capacity: keptConnections)), eventLoop: loop)
    }

    /// Sends a request to the token endpoint: for a code, a refresh token or client credentials.
    ///
    /// At most once, unless the endpoint refuses it only because its proof lacks a nonce: then once more.
    ///
    /// - Parameter proofKey: the key that the tokens are, or will be, bound to; `nil` for bearer tokens.
    package func exchange(
        _ request: GrantRequest, by client: CallingClient, provenBy proofKey: ProofKey? = nil, at address: FetchURL,
        _ slot: CallSlot, until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<Grant>> {
        // For a code, Apple returns `invalid_grant`.
        let quirks =
            if case .refresh = request { self.quirks } else { self.quirks.subtracting([.revokedIsInvalidRequest]) }
        let proof = proofKey.map { CallProof(key: $0) }
        let call = Call(.token, at: address, proof, until: deadline, slot) { authenticator, now throws(OpenSSLError) in
            OutgoingMessage(try authenticator.authenticate(request, now: now))
        }
        return perform(call, by: client) { answer, now throws(CallFailure) in
            try answer.grant(quirks, isProven: proofKey != nil, now: now)
        }
    }

    /// Revokes a token. This is idempotent, so it is retried if the provider can't be reached, does not respond
    /// completely, or answers 429 or 5xx.
    ///
    /// A provider may list only methods that it does not accept from this client: if it refuses one of them, the
    /// configured one is tried.
    ///
    /// - Parameters:
    ///   - proofKey: the key that the token is bound to; `nil` for a bearer token.
    ///   - methods: the endpoint's authentication methods; `nil` if they are not known.
    package func revoke(
        _ request: RevocationRequest, by client: CallingClient, provenBy proofKey: ProofKey? = nil,
        at address: FetchURL, accepting methods: [String]? = nil, _ slot: CallSlot, until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<Void>> {
        @Sendable func call(_ methods: [String]?) -> Call {
            let proof = proofKey.map { CallProof(key: $0) }
            return Call(.revocation, at: address, proof, until: deadline, slot) {
                authenticator, now throws(OpenSSLError) in
                OutgoingMessage(try authenticator.authenticate(request, acceptedBy: methods, now: now))
            }
        }
        return revoke(call(methods), by: client, after: []).flatMap { [self] called in
            guard case .failure(let failure) = called.result, failure.isRefusal,
                authenticator(of: client)?.usesAnotherMethod(for: methods) == true
            else { return loop.makeSucceededFuture(called) }
            return revoke(call(nil), by: client, after: called.reports)
        }
    }

    private func revoke(
        _ call: Call, by client: CallingClient, after earlier: [CallReport]
    ) -> EventLoopFuture<Called<Void>> {
        perform(call, by: client) { answer, _ throws(CallFailure) in try answer.revoked() }.flatMap { called in
            let called = Called(result: called.result, reports: earlier + called.reports)
            // With jitter, so that calls that failed in one outage are not all retried at once.
            let pause = Int64(called.reports.count == 1 ? 100 : 300) * .random(in: 75...125) / 100
            guard case .failure(let failure) = called.result, failure.isWorthAnotherTry,
                called.reports.count < Self.revocationTries,
                SystemClocks.monotonic() + Interval(milliseconds: pause) < call.deadline
            else { return self.loop.makeSucceededFuture(called) }
            return self.loop.flatScheduleTask(in: .milliseconds(pause)) {
                self.revoke(call, by: client, after: called.reports)
            }.futureResult
        }
    }

    /// Reads the claims of the user that an ID Token names.
    ///
    /// - Parameters:
    ///   - subject: the ID Token's.
    ///   - refusal: why plain claims are refused; `nil` if they are not.
    package func userInfo(
        _ request: UserInfoRequest, of subject: String, refusingClaims refusal: UserInfoTokenFault? = nil,
        by client: CallingClient, at address: FetchURL, _ slot: CallSlot, until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<UserInfoResponse>> {
        let proof = request.proofKey.map { CallProof(key: $0, accessToken: request.accessToken) }
        let accepted = refusal == nil ? OutgoingMessage.json : UserInfoResponse.tokenType
        var call = Call(.userInfo, at: address, proof, until: deadline, slot) { _, _ throws(OpenSSLError) in
            try OutgoingMessage(request, accepting: accepted)
        }
        call.presentsCertificate = request.isOfCertificate
        return perform(call, by: client) { answer, _ throws(CallFailure) in
            try answer.userInfo(of: subject, refusingClaims: refusal)
        }
    }

    /// Requests the migration of a user whose app moves to another team.
    ///
    /// - Parameter accessToken: of the scope `user.migration`.
    package func migrate(
        _ request: UserMigrationRequest, with accessToken: AccessToken, by client: CallingClient, at address: FetchURL,
        _ slot: CallSlot, until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<UserMigration>> {
        let call = Call(.userMigration, at: address, until: deadline, slot) { authenticator, now throws(OpenSSLError) in
            OutgoingMessage(try authenticator.authenticate(request, with: accessToken, now: now))
        }
        return perform(call, by: client) { answer, _ throws(CallFailure) in try answer.userMigration(request) }
    }

    /// Asks about an access token, once.
    ///
    /// - Parameters:
    ///   - mustBeSigned: whether the response must be signed.
    ///   - read: reads the response. Called on ``loop``.
    package func introspect<Value: Sendable>(
        _ token: AccessToken, by clientID: String, at address: FetchURL, mustBeSigned: Bool, _ slot: CallSlot,
        until deadline: MonotonicTime,
        reading read: @escaping @Sendable (IntrospectionResponse, UnixTime) throws(CallFailure) -> Value
    ) -> EventLoopFuture<Called<Value>> {
        let accepted = mustBeSigned ? EndpointAnswer.signedIntrospection : OutgoingMessage.json
        let call = Call(.introspection, at: address, until: deadline, slot) { authenticator, now throws(OpenSSLError) in
            OutgoingMessage(try authenticator.authenticate(askingAbout: token, now: now), accepting: accepted)
        }
        return perform(call, by: .configured(clientID)) { answer, now throws(CallFailure) in
            try read(try answer.introspection(mustBeSigned: mustBeSigned), now)
        }
    }

    /// Replaces a client's credential. Calls that were sent keep the previous one.
    package func change(_ credential: ClientCredential, ofClient clientID: String) {
        loop.execute {
            self.state.value.authenticators[clientID] = ClientAuthenticator(clientID: clientID, credential)
        }
    }

    /// Replaces the key of clients that requests name.
    package func change(assertionKey key: ClientSigningKey) {
        loop.execute { self.state.value.assertionKey = key }
    }

    /// Closes idle connections, and keeps none from now on. Calls in progress continue.
    package func stop() {
        loop.execute {
            self.state.value.isStopped = true
            for connection in self.state.value.pool.removeAll() { connection.close() }
        }
    }
}

extension CallFailure {
    /// Whether the provider has answered that it does not do what was asked.
    fileprivate var isRefusal: Bool {
        switch self {
        case .clientRejected, .refused, .answerInvalid: true
        case .notSent, .unavailable, .grantInvalid: false
        }
    }

    /// Whether a retry of an idempotent call may succeed.
    fileprivate var isWorthAnotherTry: Bool {
        switch self {
        case .notSent(.unreachable), .notSent(.timeout), .unavailable: true
        case .notSent(.credential), .grantInvalid, .clientRejected, .refused, .answerInvalid: false
        }
    }
}

/// An endpoint of a provider that is called.
package enum CallEndpoint: String, Sendable, CaseIterable {
    case token, revocation
    case pushedRequest = "pushed_authorization_request"
    case userInfo = "user_info"
    case introspection
    /// Apple's, called only by the command line.
    case userMigration = "user_migration"
}

/// One request to a provider's endpoint, for metrics, spans and logs. It contains nothing secret or personal.
package struct CallReport: Sendable {
    package let endpoint: CallEndpoint
    /// The client of the settings that made the call; `nil` if the request named one.
    package let clientID: String?
    package let address: FetchURL
    package let startedAtUnixNanoseconds: UInt64
    /// Until the end of the response, including name resolution and connecting.
    package let nanoseconds: UInt64
    package let connection: ConnectionUse
    /// The status of the response; `nil` if there was none.
    package let status: UInt?
    /// `nil` for a success.
    package let failure: CallFailure?
    /// Why no connection could be opened, or what is wrong with the response, for operators.
    package let reason: String?
    /// The provider's own explanation of a failure, without the secrets of the request.
    package let providerDescription: String?

    package enum ConnectionUse: String, Sendable, CaseIterable {
        case opened, reused, failed
    }

    package var outcome: CallOutcome { CallOutcome(failure) }
}

/// The result of a call, with a report of each request that was made.
package struct Called<Value: Sendable>: Sendable {
    package let result: Result<Value, CallFailure>
    package let reports: [CallReport]
}

/// Authorization requests that are signed, or sent to the provider before the browser.
extension ProviderCalls {
    /// Signs an authorization request.
    ///
    /// - Parameters:
    ///   - signingKey: the key of `client_keys` that signs if the client has no key of its own; `nil`: the first.
    ///   - issuer: the provider's.
    /// - Returns: never fails, and completes on ``loop``.
    package func requestObject(
        _ parameters: AuthorizationParameters, of clientID: String, by client: CallingClient, signingKey: String?,
        for issuer: String, now: UnixTime
    ) -> EventLoopFuture<Result<[UInt8], RequestObjectFault>> {
        loop.submit { [self] in
            guard let key = requestKey(of: client, signingKey) else { return .failure(.noKey) }
            do throws(OpenSSLError) {
                return .success(
                    try RequestObject.make(parameters, of: clientID, for: issuer, signedBy: key, now: now))
            } catch {
                return .failure(.cryptographyUnavailable)
            }
        }
    }

    /// Sends an authorization request to the provider, once.
    ///
    /// - Source: RFC 9126, section 2.
    package func push(
        _ request: PushedAuthorization, by client: CallingClient, at address: FetchURL, _ slot: CallSlot,
        until deadline: MonotonicTime
    ) -> EventLoopFuture<Called<PushedReference>> {
        let call = Call(.pushedRequest, at: address, until: deadline, slot) { authenticator, now throws(OpenSSLError) in
            OutgoingMessage(try authenticator.authenticate(request, now: now))
        }
        return perform(call, by: client) { answer, _ throws(CallFailure) in try answer.pushed() }
    }

    /// The key that signs a client's requests: its own, or else one of `client_keys`.
    private func requestKey(of client: CallingClient, _ name: String?) -> ClientSigningKey? {
        switch client {
        case .configured(let id): state.value.authenticators[id]?.requestKey ?? ownKeys.signing(name)
        case .named: state.value.assertionKey ?? ownKeys.signing(nil)
        }
    }
}

/// Why an authorization request was not signed.
package enum RequestObjectFault: Error, Sendable {
    /// Neither the client nor `client_keys` has a key that signs.
    case noKey
    case cryptographyUnavailable
}
