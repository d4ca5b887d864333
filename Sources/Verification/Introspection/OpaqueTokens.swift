private import Bytes
package import HTTP
internal import IDToken
internal import JOSE
internal import NIOCore
package import OAuth

/// Access tokens that only their issuer can judge.
extension RequestVerifier {
    /// An access token about which a provider must be asked, or that must not be sent to it.
    package enum OpaqueToken {
        case question(Question)
        case refused(Problem, provider: Int?)

        package var provider: Int? {
            switch self {
            case .question(let question): question.provider
            case .refused(_, let provider): provider
            }
        }
    }

    /// A question to a provider about one token, which goes to that provider alone.
    package struct Question {
        let text: ArraySlice<UInt8>
        let token: AccessToken
        let slot: ProviderSlot
        let introspector: Introspector
        let dialect: AccessTokenDialect
        let provider: Int
    }

    /// The request's token, if a provider must be asked about it.
    ///
    /// A request without a provider does not say whom to ask about a token that names no issuer.
    ///
    /// - Returns: `nil` for a token that is verified with keys, or refused without any provider.
    package func opaqueToken(in request: AccessTokenRequest) -> OpaqueToken? {
        guard !ofOpaqueTokens.isEmpty, let text = request.token else { return nil }
        if let named = request.resource {
            guard let resource = resource(named), let number = resource.opaque else { return nil }
            return opaqueToken(text, of: number, for: resource)
        }
        if let named = request.provider {
            return ofOpaqueTokens.named(named).map { number in
                opaqueToken(text, of: number) ?? .refused(.tokenOfAnotherIssuer, provider: number)
            }
        }
        switch TokenForm(text, verifier) {
        case .jwt(let issuer?):
            guard ofAccessTokens.withIssuer(issuer, slots) == nil else { return nil }
            return ofOpaqueTokens.withIssuer(issuer, slots).flatMap { opaqueToken(text, of: $0) }
        case .opaque: return .refused(.opaqueTokenUnnamed, provider: nil)
        case .jwt(nil), .malformed: return nil
        }
    }

    /// A token that a request or a policy gives to a provider with opaque tokens.
    ///
    /// A JWT is never sent to another issuer than its own, and never to one whose JWTs are verified with keys: a refusal
    /// is final.
    ///
    /// - Parameters:
    ///   - resource: the one that the token is for; `nil`: none is named.
    ///   - isOfOthers: whether JWTs of an issuer are verified otherwise.
    /// - Returns: `nil` for a JWT about which the provider must not be asked.
    func opaqueToken(
        _ text: ArraySlice<UInt8>, of number: Int, for resource: ServedResource? = nil,
        unlessIssuedBy isOfOthers: (String) -> Bool = { _ in false }
    ) -> OpaqueToken? {
        guard let slot = slot(number, of: resource), let introspector = slot.provider.introspector,
            let dialect = slot.provider.accessTokens
        else { return nil }
        switch TokenForm(text, verifier) {
        case .malformed(let rejection): return .refused(.rejected(rejection, of: .opaqueToken), provider: number)
        case .jwt(let issuer?)
        where
            ofAccessTokens.withIssuer(issuer, slots) != nil || !slot.policy.isIssuer(issuer) || isOfOthers(issuer):
            return nil
        case .jwt, .opaque:
            guard let token = AccessToken(String(decoding: text, as: UTF8.self)) else {
                return .refused(.rejected(.tokenMalformed(.serialization), of: .opaqueToken), provider: number)
            }
            return .question(
                Question(
                    text: text, token: token, slot: slot, introspector: introspector, dialect: dialect,
                    provider: number))
        }
    }

    /// Names the token among this loop's answers; `nil` if they are not used again, or if OpenSSL fails.
    func key(of question: Question) -> IntrospectionKey? {
        question.introspector.key(of: question.text, hashedBy: verifier.jwsVerifier)
    }

    /// Asks the provider, unless its answer is known elsewhere.
    ///
    /// - Parameters:
    ///   - key: see ``key(of:)``.
    ///   - timeout: of the question itself, which others may wait for too.
    ///   - deadline: when this request gives up.
    func answer(
        to question: Question, named key: IntrospectionKey?, timeout: Interval, until deadline: MonotonicTime
    ) async -> (Result<Introspection, Problem>) {
        guard let address = question.introspector.endpoint(question.slot.delivered.endpoints) else {
            return .failure(.endpointUnknown)
        }
        let asked = question.introspector.ask(
            about: question.token, at: address, timeout: timeout, until: deadline)
        guard let introspection = try? await asked.get() else { return .failure(.endpointUnknown) }
        if let key { question.introspector.keep(introspection, for: key, on: introspections) }
        return .success(introspection)
    }

    /// Checks what a provider says of a token.
    ///
    /// - Throws: ``Problem``.
    func judge(
        _ question: Question, _ introspection: Introspection, expecting parameters: AccessTokenParameters,
        now: VerificationTime
    ) throws(Problem) -> IntrospectedToken {
        switch introspection.result {
        case .failure(let failure): throw Problem(failure)
        case .success(.inactive): throw .rejected(.tokenInactive, of: .opaqueToken)
        case .success(.active(let token)):
            do throws(Rejection) {
                return try verifier.jwsVerifier.checkOpaqueToken(
                    question.text, saidToHave: token.introspected, under: question.slot.policy, question.dialect,
                    expecting: parameters, now: now.wall)
            } catch {
                throw .rejected(error, of: .opaqueToken)
            }
        }
    }
}

/// A verdict on an opaque token, and how the provider's answer came.
package struct IntrospectedVerdict<Answer> {
    package let verdict: Verdict<Answer>
    /// `nil` if the provider was not asked, and no answer was known.
    package let isCached: Bool?
    /// The requests to the provider.
    package let calls: [CallReport]
}

extension RequestVerifier {
    /// Verifies an opaque token: at once if the provider need not be asked.
    ///
    /// - Parameters:
    ///   - timeout: of a question to the provider.
    ///   - deadline: when this request gives up.
    package func verdict(
        on token: OpaqueToken, _ request: AccessTokenRequest, timeout: Interval, until deadline: MonotonicTime
    ) -> Reply<IntrospectedVerdict<AccessTokenAnswer>, Never> {
        verdict(on: token, expecting: request.parameters, timeout: timeout, until: deadline) {
            policy throws(Problem) in
            try request.check(against: policy)
        } answer: { token, used in
            AccessTokenAnswer(token: .opaque(token, used), includesClaims: request.includesClaims)
        }
    }

    /// - Parameters:
    ///   - check: rejects a request that the settings don't allow, before the provider is asked.
    ///   - answer: creates the answer.
    func verdict<Answer>(
        on token: OpaqueToken, expecting parameters: AccessTokenParameters, timeout: Interval,
        until deadline: MonotonicTime, checking check: (ProviderPolicy) throws(Problem) -> Void = { _ in },
        answer make: @escaping (IntrospectedToken, IntrospectionUsed) -> Answer
    ) -> Reply<IntrospectedVerdict<Answer>, Never> {
        switch token {
        case .refused(let problem, let provider):
            let verdict = Verdict<Answer>.refused(problem.naming(parameters.audience), provider: provider)
            return .now(IntrospectedVerdict(verdict: verdict, isCached: nil, calls: []))
        case .question(let question):
            let now = VerificationTime.now()
            do throws(Problem) {
                try check(question.slot.policy)
            } catch {
                return .now(verdict(on: question, .failure(error), expecting: parameters, now: now, answer: make))
            }
            let key = key(of: question)
            let known = key.flatMap {
                question.introspector.known($0, on: introspections, now: now.monotonic, now.wall)
            }
            if let known {
                return .now(verdict(on: question, .success(known), expecting: parameters, now: now, answer: make))
            }
            return .later {
                let answer = await self.answer(to: question, named: key, timeout: timeout, until: deadline)
                return self.verdict(on: question, answer, expecting: parameters, now: .now(), answer: make)
            }
        }
    }

    private func verdict<Answer>(
        on question: Question, _ introspection: Result<Introspection, Problem>,
        expecting parameters: AccessTokenParameters, now: VerificationTime,
        answer make: (IntrospectedToken, IntrospectionUsed) -> Answer
    ) -> IntrospectedVerdict<Answer> {
        let verdict: Verdict<Answer>
        do throws(Problem) {
            let introspection = try introspection.get()
            let token = try judge(question, introspection, expecting: parameters, now: now)
            verdict = .verified(
                make(token, IntrospectionUsed(introspection, now: now.monotonic)), provider: question.provider)
        } catch {
            verdict = .refused(error.naming(parameters.audience), provider: question.provider)
        }
        let asked = try? introspection.get()
        return IntrospectedVerdict(verdict: verdict, isCached: asked?.isCached, calls: asked?.calls ?? [])
    }
}

/// How old a provider's answer is, and which keys signed it, as an answer reports them.
package struct IntrospectionUsed: Sendable {
    private let isCached: Bool
    private let ageSeconds: Int64
    /// `nil` if the answer was not signed.
    let keys: KeysUsed?

    init(_ introspection: Introspection, now: MonotonicTime) {
        isCached = introspection.isCached
        ageSeconds = max(introspection.age.milliseconds / 1000, 0)
        keys = introspection.keys.map { KeysUsed($0, now: now) }
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("cached", isCached)
            json.member("age_seconds", ageSeconds)
        }
    }
}

/// What kind of token a text is, as far as anyone but its issuer can tell.
private enum TokenForm {
    /// - Parameter issuer: `nil` if it names none.
    case jwt(issuer: String?)
    case opaque
    /// It is no bearer token, or looks like a JWT that can't be read: then nobody can say whose it is.
    case malformed(Rejection)

    init(_ text: ArraySlice<UInt8>, _ verifier: IDTokenVerifier) {
        do throws(Rejection) {
            self = .jwt(issuer: try verifier.read(text).unverifiedIssuer)
        } catch {
            let isOpaque = text.span.isBearerToken(upTo: verifier.maximumTokenLength) && !text.hasJOSEHeader
            self = isOpaque ? .opaque : .malformed(error)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Whether this looks like a JWS: three parts, the first of which is an object. Encrypted tokens have five, and only
    /// their recipient can read them.
    fileprivate var hasJOSEHeader: Bool {
        let parts = split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let first = parts.first else { return false }
        let header = Base64URL.decodeLeniently(String(decoding: first, as: UTF8.self)) ?? []
        return header.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    }
}

extension Span<UInt8> {
    /// Whether this can be sent as a bearer token: a `b64token` of at most the length that tokens may have, in bytes.
    ///
    /// - Source: RFC 6750, section 2.1.
    fileprivate func isBearerToken(upTo maximumLength: Int) -> Bool {
        var end = count
        while end > 0, self[end - 1] == UInt8(ascii: "=") { end -= 1 }
        guard end > 0, count <= maximumLength else { return false }
        return (0..<end).allSatisfy { self[$0].isLetterOrDigit || "-._~+/".utf8.contains(self[$0]) }
    }
}

extension Problem {
    /// - Parameter failure: why nothing is known about a token.
    package init(_ failure: IntrospectionFailure) {
        self =
            switch failure {
            case .call(let failure): Problem(failure)
            case .full: .callsFull
            case .keysUnavailable(let retryAfter):
                .keysUnavailable(retryAfterSeconds: Swift.max(retryAfter.secondsRoundedUp, 1))
            }
    }
}
