internal import HTTP
internal import IDToken
internal import Keys
internal import NIOCore
internal import NIOHTTP1
internal import OpenSSL

/// A call: its destination, and how its request is created once a connection is open.
struct Call: Sendable {
    let endpoint: CallEndpoint
    let address: FetchURL
    /// `nil`: the request needs no proof.
    var proof: CallProof?
    /// Whether the connection presents the client's certificate, if it has one.
    var presentsCertificate = true
    let deadline: MonotonicTime
    /// Reserved until the call has ended.
    let slot: CallSlot
    let message: @Sendable (inout ClientAuthenticator, UnixTime) throws(OpenSSLError) -> OutgoingMessage

    init(
        _ endpoint: CallEndpoint, at address: FetchURL, _ proof: CallProof? = nil, until deadline: MonotonicTime,
        _ slot: CallSlot,
        message: @escaping @Sendable (inout ClientAuthenticator, UnixTime) throws(OpenSSLError) -> OutgoingMessage
    ) {
        self.endpoint = endpoint
        self.address = address
        self.proof = proof
        self.deadline = deadline
        self.slot = slot
        self.message = message
    }
}

/// The DPoP proof that a request is sent with.
struct CallProof: Sendable {
    let key: ProofKey
    /// That the request has; `nil` for none.
    var accessToken: AccessToken?
    /// That the endpoint demands; `nil` at first.
    var nonce: String?
}

/// A message to write to a connection.
struct OutgoingMessage {
    /// The form of a POST; `nil` for a GET.
    let form: ByteBuffer?
    /// The value of `Authorization`.
    let authorization: String?
    /// The value of `DPoP`.
    private var proof: String?
    private(set) var secrets: SentSecrets
    /// The media type of the response that is asked for.
    let accepted: String

    init(_ request: consuming AuthenticatedRequest, accepting accepted: String = Self.json) {
        self.accepted = accepted
        secrets = request.secrets
        (form, authorization) = request.send { body, authorization in (ByteBuffer(bytes: body), authorization) }
    }

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ request: UserInfoRequest, accepting accepted: String) throws(OpenSSLError) {
        form = nil
        self.accepted = accepted
        secrets = try request.secrets()
        authorization = request.authorization
    }

    static let json = "application/json"

    /// - Throws: ``OpenSSLError``.
    mutating func add(_ proof: CallProof, for address: FetchURL, now: UnixTime) throws(OpenSSLError) {
        let made = try proof.key.proof(
            method: method.rawValue, url: address.text, accessToken: proof.accessToken, nonce: proof.nonce, now: now)
        secrets = try secrets.adding(made)
        self.proof = made
    }

    private var method: HTTPMethod { form == nil ? .GET : .POST }

    func head(for address: FetchURL) -> HTTPRequestHead {
        var headers: HTTPHeaders = ["Host": address.authority, "Accept": accepted, "User-Agent": "assay"]
        if let form {
            headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            headers.add(name: "Content-Length", value: "\(form.readableBytes)")
        }
        if let authorization { headers.add(name: "Authorization", value: authorization) }
        if let proof { headers.add(name: "DPoP", value: proof) }
        return HTTPRequestHead(
            version: .http1_1, method: method, uri: address.requestTarget, headers: headers)
    }
}

extension ProviderCalls {
    typealias Kept = ConnectionPool<ClientConnection>.Kept

    /// Responses have a few kilobytes.
    private static let maximumBody = 64 * 1024
    private static let maximumOverhead = 32 * 1024

    /// Makes one request, and reports it; a second one if the first was refused only because its proof has no nonce.
    ///
    /// The second has a new proof and a new assertion, so that neither is used twice.
    func perform<Value: Sendable>(
        _ call: Call, by client: CallingClient,
        reading read: @escaping @Sendable (EndpointAnswer, UnixTime) throws(CallFailure) -> Value
    ) -> EventLoopFuture<Called<Value>> {
        let first = attempt(call, by: client, reading: read)
        guard call.proof != nil else { return first.map(\.called) }
        return first.flatMap { [self] first in
            guard let nonce = first.demandedNonce else { return loop.makeSucceededFuture(first.called) }
            var call = call
            call.proof?.nonce = nonce
            return attempt(call, by: client, reading: read).map { second in
                Called(result: second.called.result, reports: first.called.reports + second.called.reports)
            }
        }
    }

    private struct Attempt<Value: Sendable>: Sendable {
        let called: Called<Value>
        let demandedNonce: String?
    }

    private func attempt<Value: Sendable>(
        _ call: Call, by client: CallingClient,
        reading read: @escaping @Sendable (EndpointAnswer, UnixTime) throws(CallFailure) -> Value
    ) -> EventLoopFuture<Attempt<Value>> {
        turns.submit { [self] in
            let (startedAt, begun) = (SystemClocks.unixNanoseconds(), loop.now)
            // Measured by the deadline's clock, because the event loop's clock has a different origin.
            let rest = (call.deadline - SystemClocks.monotonic()).milliseconds
            let deadline = begun + .milliseconds(max(rest, 0))
            let certificate = call.presentsCertificate ? authenticator(of: client)?.certificate : nil
            return connection(
                for: call.address, of: client.issuer, presenting: certificate, until: deadline
            ).flatMap { [self] opened in
                send(call, by: client, on: opened, until: deadline)
            }.map { [self] sent in
                let result = Result { () throws(CallFailure) in
                    try read(try sent.answer.get(), UnixTime(seconds: SystemClocks.unixSeconds()))
                }
                var failure: CallFailure?
                if case .failure(let error) = result { failure = error }
                let report = CallReport(
                    endpoint: call.endpoint, clientID: client.configuredID, address: call.address,
                    startedAtUnixNanoseconds: startedAt,
                    nanoseconds: UInt64(max((loop.now - begun).nanoseconds, 0)), connection: sent.connection,
                    status: sent.status, failure: failure, reason: sent.reason ?? failure?.answerFault?.text,
                    providerDescription: failure.flatMap { Self.description(in: sent, of: $0) })
                onReport(report)
                let nonce = call.proof == nil ? nil : (try? sent.answer.get())?.demandedNonce
                return withExtendedLifetime(call.slot) {
                    Attempt(called: Called(result: result, reports: [report]), demandedNonce: nonce)
                }
            }
        }
    }

    // MARK: Connecting

    private enum Opened: Sendable {
        case connection(Kept, CallReport.ConnectionUse)
        case failed(CallFailure.NotSentReason, String)
    }

    /// A kept connection, or a new one.
    ///
    /// - Parameters:
    ///   - issuer: that the request names.
    ///   - certificate: of the client; `nil` for none.
    private func connection(
        for address: FetchURL, of issuer: String?, presenting certificate: TLSIdentity?,
        until deadline: NIODeadline
    ) -> EventLoopFuture<Opened> {
        guard certificate == nil || address.isSecure else {
            return loop.makeSucceededFuture(
                .failed(.unreachable, "the endpoint's URL is http, so the connection can't present the certificate"))
        }
        let origin = ConnectionPool<ClientConnection>.Origin(
            issuer: issuer, certificate: certificate, isSecure: address.isSecure, host: address.host, port: address.port
        )
        while let kept = state.value.pool.take(origin, now: SystemClocks.monotonic()) {
            if kept.connection.isReusable { return loop.makeSucceededFuture(.connection(kept, .reused)) }
            kept.connection.close()
        }
        return dial(address, presenting: certificate, until: deadline).map { result in
            switch result {
            case .success(let connection?):
                .connection(
                    Kept(connection: connection, origin: origin, openedAt: SystemClocks.monotonic()), .opened)
            case .success(nil): .failed(.timeout, "no connection within the time of the call")
            case .failure(let failure): .failed(.unreachable, failure.message)
            }
        }
    }

    /// - Returns: `nil` if the deadline has passed.
    private func dial(
        _ address: FetchURL, presenting certificate: TLSIdentity?, until deadline: NIODeadline
    ) -> EventLoopFuture<Result<ClientConnection?, FetchFailure>> {
        let outcome = loop.makePromise(of: Result<ClientConnection?, FetchFailure>.self)
        let isOver = NIOLoopBoundBox(false, eventLoop: loop)
        let task = Task(executorPreference: dialing) { [dialer, loop] in
            let result: Result<ClientConnection?, FetchFailure>
            do throws(FetchFailure) {
                result = .success(try await dialer.dial(address, presenting: certificate))
            } catch {
                result = .failure(error)
            }
            loop.execute {
                guard !isOver.value else {
                    if case .success(let connection?) = result { connection.close() }
                    return
                }
                isOver.value = true
                outcome.succeed(result)
            }
        }
        let timer = loop.scheduleTask(deadline: deadline) {
            guard !isOver.value else { return }
            isOver.value = true
            task.cancel()
            outcome.succeed(.success(nil))
        }
        outcome.futureResult.whenComplete { _ in timer.cancel() }
        return outcome.futureResult
    }

    // MARK: Sending

    private struct Sent: Sendable {
        let answer: Result<EndpointAnswer, CallFailure>
        let connection: CallReport.ConnectionUse
        var status: UInt?
        var reason: String?
        /// The secrets in the request, which nothing may show; `nil` if nothing was sent.
        var secrets: SentSecrets?
    }

    /// Authenticates the request and sends it, in one turn of the loop.
    private func send(
        _ call: Call, by client: CallingClient, on opened: Opened, until deadline: NIODeadline
    ) -> EventLoopFuture<Sent> {
        func unsent(
            _ failure: CallFailure.NotSentReason, _ use: CallReport.ConnectionUse, _ reason: String? = nil
        ) -> EventLoopFuture<Sent> {
            loop.makeSucceededFuture(Sent(answer: .failure(.notSent(failure)), connection: use, reason: reason))
        }
        let (kept, use): (Kept, CallReport.ConnectionUse)
        switch opened {
        case .connection(let found, let how): (kept, use) = (found, how)
        case .failed(let reason, let text): return unsent(reason, .failed, text)
        }
        guard kept.connection.isIdle else {
            return unsent(.unreachable, .failed, "the server closed the connection before the request was sent")
        }
        guard loop.now < deadline else {
            keep(kept)
            return unsent(.timeout, use)
        }
        guard let message = message(of: call, by: client) else {
            keep(kept)
            return unsent(.credential, use, "the request can't be authenticated")
        }
        let request = ClientRequest(
            head: message.head(for: call.address), body: message.form ?? ByteBuffer(), idleTimeout: idleTimeout,
            deadline: deadline, maximumBody: Self.maximumBody, maximumOverhead: Self.maximumOverhead,
            keepsConnection: !state.value.isStopped)
        return kept.connection.exchange(request).map { [self] answer in
            keep(kept)
            return Sent(
                answer: Self.read(answer), connection: use, status: answer.head?.status.code, secrets: message.secrets)
        }
    }

    /// The provider's `error_description`, without the secrets that were sent; `nil` for an invalid grant. Strangers
    /// can cause that with any code, no operator can mend it, and removing the secrets takes time.
    private static func description(in sent: Sent, of failure: CallFailure) -> String? {
        if case .grantInvalid = failure { return nil }
        guard let secrets = sent.secrets, let answer = try? sent.answer.get() else { return nil }
        return answer.errorDescription(without: secrets)
    }

    /// - Returns: `nil` if OpenSSL fails, or the settings no longer contain the client or the key.
    private func message(of call: Call, by client: CallingClient) -> OutgoingMessage? {
        guard var authenticator = authenticator(of: client) else { return nil }
        let now = UnixTime(seconds: SystemClocks.unixSeconds())
        var message = try? call.message(&authenticator, now)
        if let proof = call.proof, (try? message?.add(proof, for: call.address, now: now)) == nil { return nil }
        // What a client of the settings has made, such as Apple's secret, is used again.
        if case .configured(let id) = client { state.value.authenticators[id] = authenticator }
        return message
    }

    /// - Returns: `nil` if the settings no longer contain the client, or its key.
    func authenticator(of client: CallingClient) -> ClientAuthenticator? {
        switch client {
        case .configured(let id): return state.value.authenticators[id]
        case .named(let client):
            let credential: ClientCredential? =
                switch client.authentication {
                case .secret(let secret, let place): .secret(secret, sentIn: place)
                case .key: state.value.assertionKey?.credential(at: client.issuer)
                case .none: ClientCredential.none
                }
            return credential.map { ClientAuthenticator(clientID: client.id, $0) }
        }
    }

    private static func read(_ answer: HTTPAnswer) -> Result<EndpointAnswer, CallFailure> {
        switch answer.body {
        case .failure(let error): return .failure(CallFailure(describing: error))
        case .success(let body):
            guard let head = answer.head else { return .failure(.unavailable(.broken)) }
            let codings = head.headers[canonicalForm: "Content-Encoding"]
            return .success(
                EndpointAnswer(
                    status: head.status.code, retryAfter: head.headers.first(name: "Retry-After"),
                    hasContentCoding: codings.contains { $0.lowercased() != "identity" },
                    contentType: head.headers.first(name: "Content-Type"), proofNonces: head.headers["DPoP-Nonce"],
                    challenges: head.headers["WWW-Authenticate"], body: body))
        }
    }

    // MARK: Keeping connections

    private func keep(_ kept: Kept) {
        guard kept.connection.isIdle, !state.value.isStopped else { return kept.connection.close() }
        for connection in state.value.pool.put(kept, now: SystemClocks.monotonic()) { connection.close() }
        sweep()
    }

    /// Closes connections that were idle for too long, until none is left.
    private func sweep() {
        guard !state.value.isSweeping, !state.value.pool.isEmpty else { return }
        state.value.isSweeping = true
        loop.scheduleTask(in: .seconds(1)) { [self] in
            state.value.isSweeping = false
            for connection in state.value.pool.removeExpired(now: SystemClocks.monotonic()) { connection.close() }
            sweep()
        }
    }
}

extension CallFailure {
    fileprivate var answerFault: AnswerFault? { if case .answerInvalid(let fault) = self { fault } else { nil } }

    /// The failure for a request that was sent, but got no complete response.
    fileprivate init(describing error: HTTPExchangeError) {
        switch error {
        case .idleTimeout, .totalTimeout, .tooSlow, .connectTimeout, .tlsHandshakeTimeout: self = .unavailable(.timeout)
        case .notHTTP: self = .answerInvalid(.notHTTP)
        case .bodyTooLarge, .tooManyOctets: self = .answerInvalid(.tooLarge)
        case .damagedCompression: self = .answerInvalid(.contentCoding)
        case .connectionFailed, .connectionReset, .connectionClosed, .proxyRefused, .notTLS, .closedInHandshake,
            .handshakeFailed, .certificateNotTrusted, .certificateForAnotherHost, .certificateNotAccepted,
            .uncleanShutdown, .tlsFailed, .other:
            self = .unavailable(.broken)
        }
    }
}
