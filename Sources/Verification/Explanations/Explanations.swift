private import Bytes
package import HTTP
package import IDToken
package import JOSE
internal import Keys
private import NIOCore
package import TokenDiagnostics

/// The body of `POST /v1/explain`: the request that the answer explains.
package enum ExplainRequest {
    /// The body of `POST /v1/verify`.
    case idToken(VerifyRequest)
    /// The body of `POST /v1/access-tokens/verify`.
    case accessToken(AccessTokenRequest)
    /// The body of `POST /v1/notifications/verify`.
    case notification(NotificationRequest)
    /// A token as a gateway would send it to `/v1/forward-auth/{policy}`, and what proves its key.
    case gateway(token: ArraySlice<UInt8>, policy: ArraySlice<UInt8>, BindingEvidence)

    /// What a token is explained as.
    package enum Kind: String, CaseIterable, Sendable {
        case idToken = "id_token"
        case accessToken = "access_token"
        case notification
    }

    /// The member `as` names the kind of the other members. Without it, the member that holds the token does. Unknown
    /// members are rejected.
    ///
    /// - Parameters:
    ///   - proofs: what DPoP proofs are checked with; `nil` if they are not checked. The age of a nonce is not.
    ///   - resources: those that the request may name.
    package init(_ object: JSONObject, _ proofs: ProofChecks?, for resources: [ServedResource]) throws(Problem) {
        var proofs = proofs
        proofs?.checksNonceAge = false
        guard object[Names.policy] == nil else {
            self = try Self.gateway(object, proofs)
            return
        }
        switch try Self.kind(of: object) ?? (object[Names.token] == nil ? .idToken : .accessToken) {
        case .idToken: self = .idToken(try VerifyRequest(object, beside: [Names.as]))
        case .accessToken:
            self = .accessToken(try AccessTokenRequest(object, beside: [Names.as], proofs, for: resources))
        case .notification: self = .notification(try NotificationRequest(object, beside: [Names.as]))
        }
    }

    private static func kind(of object: JSONObject) throws(Problem) -> Kind? {
        guard let value = object[Names.as], value.kind != .null else { return nil }
        guard let kind = value.string.flatMap(Kind.init) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .requestInvalid("as must be one of \(known).")
        }
        return kind
    }

    private static func gateway(_ object: JSONObject, _ proofs: ProofChecks?) throws(Problem) -> ExplainRequest {
        try object.requireOnly(
            [Names.token, Names.policy] + BindingEvidence.names, in: "request that names a policy")
        guard let token = try? object.utf8(Names.token), let policy = try? object.utf8(Names.policy) else {
            throw .requestInvalid("The request's token and policy must be strings.")
        }
        return .gateway(token: token, policy: policy, try BindingEvidence(of: object, proofs))
    }

    private enum Names {
        static let token: JSONName = "token"
        static let policy: JSONName = "policy"
        static let `as`: JSONName = "as"
    }
}

extension RequestVerifier {
    /// Prepares the explanation of a request.
    ///
    /// - Parameters:
    ///   - forwardAuth: decides for gateways, with this verifier; `nil` if there are no policies.
    ///   - deadline: how long to wait for keys.
    /// - Returns: a function that creates the explanation. It fetches keys in the same cases as the request would.
    /// - Throws: ``Problem/requestInvalid(_:)`` if there is no such policy.
    package func explanation(
        of request: ExplainRequest, _ forwardAuth: ForwardAuth?, until deadline: MonotonicTime
    ) throws(Problem) -> () async -> Explained {
        switch request {
        case .idToken(let request):
            return {
                let outcome = self.verify(request, at: .now())
                return await self.explained(request, outcome, request.idToken, CheckName.ofIDTokens) {
                    VerifyRequest(request, inside: $0).concealing
                } by: { request in
                    await self.explained(request.idToken, request.connection, until: deadline) {
                        self.verify(request, at: $0)
                    } by: { status, verdict, now throws(Problem) in
                        try self.explain(request, status, verdict: verdict.problem, now: now)
                    }
                }
            }
        case .accessToken(let request):
            if let opaque = opaqueToken(in: request) {
                return {
                    await self.explained(
                        opaqueToken: opaque, expecting: request.parameters, isNamed: request.provider != nil,
                        until: deadline
                    ).explained
                }
            }
            return {
                await self.explained(request.token, nil, until: deadline) {
                    self.verify(request, at: $0)
                } by: { status, verdict, now throws(Problem) in
                    try self.explain(request, status, verdict: verdict.problem, now: now)
                }
            }
        case .notification(let request):
            return {
                let outcome = self.verify(request, at: .now())
                return await self.explained(request, outcome, request.token, CheckName.ofNotifications) {
                    NotificationRequest(request, inside: $0)
                } by: { request in
                    await self.explained(request.token, request.connection, until: deadline) {
                        self.verify(request, at: $0)
                    } by: { status, verdict, now throws(Problem) in
                        try self.explain(request, status, verdict, now: now)
                    }
                }
            }
        case .gateway(let token, let policy, var evidence):
            guard let forwardAuth, let rule = forwardAuth.rule(named: policy) else {
                throw .requestInvalid(
                    "The request's policy is not the id of a policy of forward_auth, byte for byte; correct it, or add the policy."
                )
            }
            evidence.proof?.use = rule.policy.proofUse
            if let opaque = forwardAuth.opaqueToken(token, by: rule) {
                return { [evidence] in
                    await forwardAuth.explained(opaqueToken: opaque, evidence, rule, until: deadline)
                }
            }
            return { [evidence] in
                await self.explained(token, nil, until: deadline) {
                    forwardAuth.verify(token, with: evidence, by: rule, at: $0)
                } by: { status, verdict, now throws(Problem) in
                    forwardAuth.explain(token, evidence, rule, status, verdict, now: now)
                }
            }
        }
    }

    /// An explanation, or an error in the request rather than the token; and the number of the token's provider.
    package struct Explained {
        package let answer: Result<ExplainAnswer, Problem>
        package let provider: Int?
    }

    /// Verifies a token, after waiting for a fetch that could help, and explains the verdict.
    ///
    /// - Parameters:
    ///   - text: the token; `nil` if none came.
    ///   - connection: the request's.
    ///   - explain: gets the state of the provider's keys after the wait, `nil` if there is no provider; the verdict;
    ///   and the time.
    private func explained<Answer>(
        _ text: ArraySlice<UInt8>?, _ connection: Connection?, until deadline: MonotonicTime,
        verifying verify: (VerificationTime) -> Outcome<Answer>,
        by explain: (KeyStatus?, Verdict<Answer>, UnixTime) throws(Problem) -> ExplainAnswer
    ) async -> Explained {
        let outcome = verify(.now())
        let token = text.flatMap { try? verifier.read($0) }
        let slot = outcome.provider.flatMap { number in
            token.map { try? explainedSlot(number, $0, connection) } ?? slots[number]
        }
        let verdict: Verdict<Answer>
        switch outcome {
        case .decided(let decided):
            // A rejected header needs no keys. But an explanation also covers the signature, so it waits for a fetch in
            // progress.
            if let slot, !slot.source.isLazy, slot.delivered.snapshot == nil,
                decided.problem?.code != Rejection.Code.tokenMalformed.rawValue
            {
                _ = try? await slot.source.wait(
                    for: .anyKeys(mayFetch: false), judgedBy: 0, until: deadline
                ).get()
            }
            verdict = decided
        case .pending(let wait): verdict = await self.verdict(after: wait, until: deadline, verifyingAgain: verify)
        }
        let status = await slot?.source.status()
        let answer = Result { () throws(Problem) in
            try explain(status, verdict, UnixTime(seconds: SystemClocks.unixSeconds()))
        }
        return Explained(answer: answer, provider: verdict.provider)
    }

    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - verdict: why the token was rejected; `nil` if it was not.
    /// - Throws: ``Problem/providerUnknown`` if the request names an unknown provider,
    ///   ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``: errors in the request rather than the
    ///   token.
    private func explain(
        _ request: VerifyRequest, _ status: KeyStatus?, verdict: Problem?, now: UnixTime
    ) throws(Problem) -> ExplainAnswer {
        let named = request.provider.flatMap(ofIDTokens.named)
        let namedOfAccessTokens = request.provider.flatMap(ofAccessTokens.named).flatMap { slots[$0] }
        if request.provider != nil, named == nil, namedOfAccessTokens == nil {
            throw unknownProvider(named: request.provider)
        }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return ExplainAnswer(
                explanation: verifier.explain(malformed: request.idToken, error),
                provider: named.flatMap { slots[$0] }?.policy.id, keys: status, time: now)
        }
        let ofIssuersAccessTokens = token.unverifiedIssuer.flatMap { ofAccessTokens.withIssuer($0, slots) }
        let accessTokens = (namedOfAccessTokens ?? ofIssuersAccessTokens.flatMap { slots[$0] })?.entry(
            for: token, now: now)
        let policies = singleIssuers.map(\.provider).filter { $0.accessTokens == nil }.map(\.policy)
        let ofIssuer = token.unverifiedIssuer.flatMap { ofIDTokens.withIssuer($0, slots) }
        if let accessTokens, named == nil, namedOfAccessTokens != nil || ofIssuer == nil {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofAccessTokens: accessTokens, now: now),
                provider: accessTokens.id, keys: nil, time: now)
        }
        guard let number = named ?? ofIssuer, let slot = try explainedSlot(number, token, request.connection) else {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofNoneOf: policies, now: now), provider: nil, keys: nil, time: now)
        }
        let policy = slot.policy
        try request.check(against: policy)
        let explanation = verifier.explain(
            token, with: ExplainedKeys(status, onceDecided: verdict, now: now), under: policy, isNamed: named != nil,
            usesNoncesOnce: slot.provider.usesNoncesOnce, fetchesLazily: slot.source.isLazy,
            others: policies.filter { !$0.id.isExactly(policy.id) }, accessTokens: accessTokens,
            expecting: request.parameters, now: now)
        return ExplainAnswer(explanation: explanation, provider: policy.id, keys: status, time: now)
    }
}

extension RequestVerifier {
    /// The slot whose rules apply to a token. For one of an issuer that its entry does not list, it has no keys, and
    /// rules that no issuer meets.
    ///
    /// - Parameter resource: the one that the token is for; `nil`: none is named.
    /// - Throws: ``Problem/requestInvalid(_:)`` if the request names no connection that can be used, and should.
    func explainedSlot(
        _ number: Int, _ token: UnverifiedToken, _ connection: Connection?, of resource: ServedResource? = nil
    ) throws(Problem) -> ProviderSlot? {
        guard let entry = slot(number, of: resource) else { return nil }
        do throws(Problem) {
            return try entry.slot(for: token, connection, of: .idToken)
        } catch {
            guard case .rejected = error, let issuers = entry.issuers, let list = entry.provider.issuers?.list else {
                throw error
            }
            var policy = entry.policy
            policy.origin = .line
            policy.issuer = "one of the \(list.count) issuers of this provider's list"
            return ProviderSlot(
                entry.provider, policy, LoopKeySnapshot(), .pool(issuers.pool, issuer: "", reader: nil))
        }
    }
}

extension RequestVerifier.ProviderSlot {
    /// Describes this provider as a verifier of access tokens, and whether the token's claims fit it; `nil` if the
    /// provider verifies ID Tokens.
    fileprivate func entry(for token: UnverifiedToken, now: UnixTime) -> AccessTokenEntry? {
        provider.accessTokens.map { dialect in
            AccessTokenEntry(
                id: policy.id, fits: (try? token.checkClaims(ofAccessTokenUnder: policy, dialect, now: now)) != nil)
        }
    }
}

extension ExplainedKeys {
    /// Without keys that may be used now, the set is empty, and says why; `nil` if there is nothing to say.
    ///
    /// - Parameter verdict: why the token was rejected; `nil` if it was not.
    init?(_ status: KeyStatus?, onceDecided verdict: Problem?, now: UnixTime) {
        guard let status else { return nil }
        guard let snapshot = status.snapshot, snapshot.isUsable(at: status.now) else {
            guard let failure = status.lastFailure else { return nil }
            self.init(set: .empty, fetchFailure: failure.message)
            fetchAdvice = failure.phase.advice
            return
        }
        self.init(
            set: snapshot.keys, algorithms: snapshot.algorithms,
            fetchedAt: UnixTime(seconds: snapshot.fetchedAtUnixSeconds),
            nextFetchAt: status.nextFetchAt(unixSeconds: now.seconds).map(UnixTime.init(seconds:)),
            clockOffsetSeconds: snapshot.clockOffsetSeconds, fetchFailure: status.lastFailure?.message,
            isMissingKey: verdict?.code == "keys_unavailable")
        fetchAdvice = status.lastFailure?.phase.advice
    }
}

extension FetchFailure.Phase {
    /// What to do if a provider's keys can't be fetched.
    fileprivate var advice: String {
        switch self {
        case .dns:
            "Check this machine's resolver, and the host; if only a proxy can resolve it, set HTTPS_PROXY."
        case .address: "Correct the host, or allow its address with network.allow_addresses."
        case .connect:
            "Let this machine connect to the host (egress rules, firewall), or set HTTPS_PROXY to a proxy that may."
        case .tls:
            "Check this machine's clock and its CA certificates (ca-certificates); for a private CA, set network.ca_file."
        case .http, .parse: "Check issuer, discovery_url or jwks_uri, and whether the provider has an outage."
        case .file: "Correct the file; a running Assay reads it again within seconds."
        }
    }
}

/// The answer of `POST /v1/explain`: the result of each check, and the state of the provider's keys.
package struct ExplainAnswer {
    package internal(set) var explanation: Explanation
    /// The ID of the provider whose rules applied; `nil` if there was none.
    let provider: String?
    let keys: KeyStatus?
    /// The time with which the token's times were compared.
    let time: UnixTime

    /// Writes the answer as a JSON object that always has every member.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("valid", explanation.isValid)
            json.member("provider", provider)
            json.member("code", explanation.refusal?.code)
            json.member("summary", explanation.summary)
            json.name("likely_cause")
            if let cause = explanation.likelyCause { write(cause, to: &json) } else { json.null() }
            json.member("time", time.seconds)
            json.objects("checks", explanation.checks) { json, check in
                json.member("name", check.name.rawValue)
                json.member("state", check.state.name)
                json.member("code", check.refusal?.code)
                json.member("expected", check.expected)
                json.member("found", check.found)
                json.member("explanation", check.explanation)
                json.member("fix", check.fix)
            }
            json.name("keys")
            if let keys { write(keys, to: &json) } else { json.null() }
            json.name("token")
            if let contents = explanation.contents { contents.write(to: &json) } else { json.null() }
        }
    }

    private func write(_ cause: Explanation.Cause, to json: inout JSONWriter) {
        json.object { json in
            json.member("check", cause.check.rawValue)
            json.member("explanation", cause.explanation)
            json.member("fix", cause.fix)
        }
    }

    private func write(_ keys: KeyStatus, to json: inout JSONWriter) {
        json.object { json in
            json.member("state", KeyState(keys.snapshot, at: keys.now).rawValue)
            json.member("source", keys.snapshot?.source.rawValue)
            json.member("fetched_at", keys.snapshot?.fetchedAtUnixSeconds)
            json.member("next_fetch_at", keys.nextFetchAt(unixSeconds: time.seconds))
            json.member("clock_offset_seconds", keys.snapshot?.clockOffsetSeconds)
            json.name("last_error")
            keys.writeLastError(to: &json)
        }
    }
}

extension TokenContents {
    /// Writes a token's header and claims as a JSON object.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            for (name, members) in [("header", header), ("claims", claims)] as [(StaticString, [Member])] {
                json.objects(name, members) { json, member in
                    json.member("name", member.name)
                    json.member("value", member.value)
                    json.member("masked", member.isMasked)
                }
            }
        }
    }
}
