private import Bytes
package import HTTP
package import IDToken
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
        let slot: ProviderSlot
        let rules: OpaqueTokenRules
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
        guard let slot = slot(number, of: resource), let rules = slot.opaqueTokens else { return nil }
        switch TokenForm(text, verifier) {
        case .malformed(let rejection): return .refused(.rejected(rejection, of: .opaqueToken), provider: number)
        case .jwt(let issuer?)
        where
            ofAccessTokens.withIssuer(issuer, slots) != nil || !slot.policy.isIssuer(issuer) || isOfOthers(issuer):
            return nil
        case .jwt, .opaque:
            guard text.count <= AccessToken.maximumLength else {
                return .refused(.rejected(.tokenMalformed(.serialization), of: .opaqueToken), provider: number)
            }
            return .question(Question(text: text, slot: slot, rules: rules, provider: number))
        }
    }

    /// Asks the provider, unless its answer is known elsewhere.
    ///
    /// - Parameters:
    ///   - timeout: of the question itself, which others may wait for too.
    ///   - deadline: when this request gives up.
    func answer(
        to question: Question, timeout: Interval, until deadline: MonotonicTime
    ) async -> Result<Introspection, Problem> {
        guard let token = AccessToken(String(decoding: question.text, as: UTF8.self)) else {
            return .failure(.rejected(.tokenMalformed(.serialization), of: .opaqueToken))
        }
        let introspector = question.rules.introspector
        guard let address = introspector.endpoint(question.slot.delivered.endpoints) else {
            return .failure(.endpointUnknown)
        }
        let asked = introspector.ask(about: token, at: address, timeout: timeout, until: deadline)
        guard let introspection = try? await asked.get() else { return .failure(.endpointUnknown) }
        return .success(introspection)
    }

    /// Checks what a provider says of a token.
    func judge(
        _ question: Question, _ introspection: Introspection, expecting parameters: AccessTokenParameters,
        now: VerificationTime
    ) throws(Problem) -> AcceptedOpaqueToken {
        let used = IntrospectionUsed(introspection, now: now.monotonic)
        switch introspection.result {
        case .failure(let failure): throw Problem(failure)
        case .success(.inactive): throw .rejected(.tokenInactive, of: .opaqueToken)
        case .success(.active(let token)): return try judge(question, token, used, expecting: parameters, now: now)
        }
    }

    private func judge(
        _ question: Question, _ token: ActiveToken, _ used: IntrospectionUsed,
        expecting parameters: AccessTokenParameters, now: VerificationTime
    ) throws(Problem) -> AcceptedOpaqueToken {
        do throws(Rejection) {
            let checked = try verifier.jwsVerifier.checkOpaqueToken(
                question.text, saidToHave: token.introspected, under: question.slot.policy, question.rules.dialect,
                expecting: parameters, now: now.wall)
            return AcceptedOpaqueToken(
                KnownToken(checked.token, under: question.slot.identity), checked.binding, used)
        } catch {
            throw .rejected(error, of: .opaqueToken)
        }
    }

    private func judge(
        _ question: Question, again token: KnownToken, _ used: IntrospectionUsed,
        expecting parameters: AccessTokenParameters, now: VerificationTime
    ) throws(Problem) -> AcceptedOpaqueToken {
        do throws(Rejection) {
            let binding = try verifier.jwsVerifier.checkAgain(
                token.token, question.text, under: question.slot.policy, question.rules.dialect,
                expecting: parameters, now: now.wall)
            return AcceptedOpaqueToken(token, binding, used)
        } catch {
            throw .rejected(error, of: .opaqueToken)
        }
    }
}

/// A verdict on an opaque token, and how the provider's answer came.
package struct IntrospectedVerdict {
    package let verdict: Verdict<AcceptedOpaqueToken>
    /// `nil` if the provider was not asked, and no answer was known.
    package let isCached: Bool?
    /// The requests to the provider.
    package let calls: [CallReport]

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? { verdict.provider }

    package func answer(to request: AccessTokenRequest) -> Verdict<AccessTokenAnswer> {
        verdict.map { AccessTokenAnswer(.opaque($0), to: request) }
    }
}

extension RequestVerifier {
    /// Verifies an opaque token: at once if the provider need not be asked.
    ///
    /// - Parameters:
    ///   - timeout: of a question to the provider.
    ///   - deadline: when this request gives up.
    package func verdict(
        on token: OpaqueToken, expecting parameters: AccessTokenParameters, timeout: Interval,
        until deadline: MonotonicTime
    ) -> Reply<IntrospectedVerdict, Never> {
        let question: Question
        switch token {
        case .question(let asked): question = asked
        case .refused(let problem, let provider): return .now(refusal(problem, provider, parameters))
        }
        do throws(Problem) {
            try question.slot.check(parameters)
        } catch {
            return .now(refusal(error, question.provider, parameters))
        }
        let now = VerificationTime.now()
        let key = question.rules.introspector.key(of: question.text, hashedBy: verifier.jwsVerifier)
        if let key,
            let known = question.rules.introspector.known(
                key, on: introspections, now: now.monotonic, now.wall)
        {
            return .now(verdict(on: question, key, known, expecting: parameters, now: now))
        }
        return .later {
            let answer = await self.answer(to: question, timeout: timeout, until: deadline)
            return self.verdict(on: question, key, answer, expecting: parameters, now: .now())
        }
    }

    /// The verdict on a token about which this loop knows the provider's answer.
    // Not inlined: inside the caller, where the slot is not a parameter, its policy would be copied.
    @inline(never)
    private func verdict(
        on question: Question, _ key: IntrospectionKey, _ known: LoopIntrospections.Known,
        expecting parameters: AccessTokenParameters, now: VerificationTime
    ) -> IntrospectedVerdict {
        let used = IntrospectionUsed(known.answer, now: now.monotonic)
        do throws(Problem) {
            let accepted: AcceptedOpaqueToken
            if let token = known.token, token.rules == question.slot.identity {
                accepted = try judge(question, again: token, used, expecting: parameters, now: now)
            } else {
                accepted = try judge(question, known.answer.token, used, expecting: parameters, now: now)
                introspections.insert(known.answer, accepted.known, for: key)
            }
            return IntrospectedVerdict(
                verdict: .verified(accepted, provider: question.provider), isCached: true, calls: [])
        } catch {
            return refusal(error, question.provider, parameters, isCached: true)
        }
    }

    private func verdict(
        on question: Question, _ key: IntrospectionKey?, _ answer: Result<Introspection, Problem>,
        expecting parameters: AccessTokenParameters, now: VerificationTime
    ) -> IntrospectedVerdict {
        let introspection = try? answer.get()
        let verdict: Verdict<AcceptedOpaqueToken>
        do throws(Problem) {
            let accepted = try judge(question, try answer.get(), expecting: parameters, now: now)
            verdict = .verified(accepted, provider: question.provider)
        } catch {
            verdict = .refused(error.naming(parameters.audience), provider: question.provider)
        }
        if let key, let answer = introspection?.known {
            introspections.insert(answer, verdict.answer?.known, for: key)
        }
        return IntrospectedVerdict(
            verdict: verdict, isCached: introspection?.isCached, calls: introspection?.calls ?? [])
    }

    private func refusal(
        _ problem: Problem, _ provider: Int?, _ parameters: AccessTokenParameters, isCached: Bool? = nil
    ) -> IntrospectedVerdict {
        IntrospectedVerdict(
            verdict: .refused(problem.naming(parameters.audience), provider: provider), isCached: isCached, calls: [])
    }
}

/// How a provider's opaque tokens are asked about, and how its answers are read.
// A class, because each copy of a dialect would retain all of its parts.
final class OpaqueTokenRules {
    let introspector: Introspector
    let dialect: AccessTokenDialect

    /// - Returns: `nil` if the provider's tokens are not opaque.
    init?(_ provider: Provider) {
        guard let introspector = provider.introspector, let dialect = provider.accessTokens else { return nil }
        (self.introspector, self.dialect) = (introspector, dialect)
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
        // Most opaque tokens have no dot. To find out why they are no JWT took 850 instructions more.
        if text.span.firstIndex(of: UInt8(ascii: ".")) == nil,
            text.span.isBearerToken(upTo: verifier.maximumTokenLength)
        {
            self = .opaque
            return
        }
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
        let stop = UInt8(ascii: ".")
        guard count(where: { $0 == stop }) == 2 else { return false }
        let header = Base64URL.decodeLeniently(String(decoding: prefix { $0 != stop }, as: UTF8.self)) ?? []
        return header.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    }
}

extension Span<UInt8> {
    /// Whether this can be sent as a bearer token: a `b64token` of at most the length that tokens may have, in bytes.
    ///
    /// - Source: RFC 6750, section 2.1.
    fileprivate func isBearerToken(upTo maximumLength: Int) -> Bool {
        guard count <= maximumLength, isToken else { return false }
        let end = firstIndex(of: UInt8(ascii: "=")) ?? count
        return end > 0 && (end..<count).allSatisfy { self[$0] == UInt8(ascii: "=") }
    }
}

extension Problem {
    /// - Parameter failure: why nothing is known about a token.
    package init(_ failure: IntrospectionFailure) {
        self =
            switch failure {
            case .call(let failure): Problem(failure)
            case .full: .callsFull
            case .keysUnavailable(let retryAfter): .keysUnavailable(retryAfter)
            }
    }
}
