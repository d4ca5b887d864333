package import HTTP
package import IDToken
private import JOSE
package import Keys
package import NIOCore

/// The result of asking a provider about an opaque token.
package struct Introspection: Sendable {
    package let result: Result<IntrospectionAnswer, IntrospectionFailure>
    /// Of a signed answer.
    package internal(set) var keys: SigningKeys?
    /// Whether the answer was known before the request.
    package internal(set) var isCached = false
    /// How long ago the provider was asked.
    package internal(set) var age = Interval.seconds(0)
    /// The requests to the provider that were made for this one.
    package internal(set) var calls: [CallReport] = []
    /// The answer about an active token; `nil` for any other.
    package internal(set) var known: KnownAnswer?
}

/// Why nothing is known about a token.
package enum IntrospectionFailure: Error, Equatable, Sendable {
    case call(CallFailure)
    /// All of the provider's calls are in flight.
    case full
    /// The answer is signed, and the provider's keys can't be fetched.
    case keysUnavailable(retryAfter: Interval)
}

/// Asks one provider about opaque tokens.
///
/// Questions and answers belong to one event loop, which serves no requests.
package final class Introspector: Sendable {
    package let calls: ProviderCalls
    package let slots: CallSlots
    let rules: IntrospectionRules
    private let configured: FetchURL?
    private let presentsCertificate: Bool
    private let keys: ResponseKeys
    private let memory: SharedIntrospectionMemory
    let entry: Int
    private let responseRules: SignedResponseRules

    /// - Parameters:
    ///   - client: that asks.
    ///   - issuer: the provider's rules.
    ///   - memory: shared by all introspectors.
    /// - Throws: ``FetchFailure`` if the endpoint can't be called.
    package init(
        _ rules: IntrospectionRules, by client: OAuthClient, of issuer: ProviderPolicy, allowingHTTP: Bool,
        calls: ProviderCalls, slots: CallSlots, keys: ResponseKeys, _ memory: SharedIntrospectionMemory
    ) throws(FetchFailure) {
        configured =
            if let endpoint = rules.endpoint { try FetchURL(endpoint, allowingHTTP: allowingHTTP) } else { nil }
        presentsCertificate = client.hasCertificate
        self.rules = rules
        self.calls = calls
        self.slots = slots
        self.keys = keys
        self.memory = memory
        entry = memory.makeEntry()
        responseRules = SignedResponseRules(issuer: issuer, clientID: client.id)
    }

    /// - Parameter discovered: `nil` if no discovery document has been read yet.
    /// - Returns: `nil` if it is not known.
    package func endpoint(_ discovered: DiscoveredEndpoints?) -> FetchURL? {
        configured ?? discovered?.url(.introspection, presentingCertificate: presentsCertificate)
    }

    /// Asks about a token, unless the answer is known or somebody asks already.
    ///
    /// - Parameters:
    ///   - timeout: of a question that has to be asked, even if nobody waits for it any longer.
    ///   - deadline: when this request gives up.
    /// - Returns: never fails, and completes on the calls' event loop by the deadline.
    package func ask(
        about token: AccessToken, at address: FetchURL, timeout: Interval, until deadline: MonotonicTime
    ) -> EventLoopFuture<Introspection> {
        let loop = calls.loop
        return loop.flatSubmit { [self] in
            guard let key = questionKey(of: token) else {
                return loop.makeSucceededFuture(Introspection(result: .failure(.call(.notSent(.credential)))))
            }
            let (now, promise, id) = (
                SystemClocks.monotonic(), loop.makePromise(of: Introspection.self), memory.makeID()
            )
            let step = memory.state.value.ask(
                key, promise, id: id, usingAnswersUpTo: rules.cachePeriod, now: now, .now())
            switch step {
            case .known(let known): promise.succeed(Introspection(known, now: now))
            case .inactive: promise.succeed(Introspection(result: .success(.inactive), isCached: true))
            case .wait: leave(key, promise, id, at: deadline)
            case .ask:
                guard let slot = slots.reserve() else {
                    end(key, askedAt: now, .failure(.full), by: id, [])
                    break
                }
                send(token, key, at: address, slot, by: id, askedAt: now, until: now + timeout)
                if deadline < now + timeout { leave(key, promise, id, at: deadline) }
            }
            return promise.futureResult
        }
    }

    /// Remembers what the provider says of a token, as if it had just been asked. On the calls' event loop.
    ///
    /// - Throws: why the answer is refused.
    package func remember(_ answer: [UInt8], about token: AccessToken) throws(CallFailure) {
        guard let key = questionKey(of: token) else { throw .notSent(.credential) }
        guard let object = try? JSONObject(answer) else { throw .answerInvalid(.notJSON) }
        let read = try IntrospectionAnswer(object, answer)
        end(key, askedAt: SystemClocks.monotonic(), .success((read, nil)), by: 0, [])
    }

    /// - Returns: `nil` if OpenSSL fails.
    private func questionKey(of token: AccessToken) -> IntrospectionKey? {
        memory.verifier.flatMap { IntrospectionKey(entry, token.text.utf8.span, hashedBy: $0) }
    }

    /// Ends the wait of a request at its deadline. The question goes on.
    private func leave(
        _ key: IntrospectionKey, _ promise: Waiter, _ id: Int, at deadline: MonotonicTime
    ) {
        let rest = max((deadline - SystemClocks.monotonic()).milliseconds, 0)
        let timer = calls.loop.scheduleTask(in: .milliseconds(rest)) { [memory] in
            memory.state.value.leave(key, id: id)?
                .succeed(Introspection(result: .failure(.call(.unavailable(.timeout)))))
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
    }

    // MARK: A question

    /// An answer, and the keys that signed it if it was signed.
    private typealias Answered = (answer: IntrospectionAnswer, keys: SigningKeys?)

    /// A response, before or after its signature was verified.
    private enum Reading: Sendable {
        case read(Answered)
        /// The keys at hand did not make the signature.
        case unverified([UInt8], CallFailure)
    }

    private func send(
        _ token: AccessToken, _ key: IntrospectionKey, at address: FetchURL, _ slot: CallSlot,
        by id: Int,
        askedAt: MonotonicTime, until deadline: MonotonicTime
    ) {
        calls.introspect(
            token, by: responseRules.clientID, at: address, mustBeSigned: rules.mustBeSigned, slot, until: deadline
        ) { [self] response, now throws(CallFailure) in
            switch response {
            case .plain(let answer): return Reading.read((answer, nil))
            case .signed(let response): return try read(response, now)
            }
        }.flatMap { [self] called -> EventLoopFuture<(Result<Answered, IntrospectionFailure>, [CallReport])> in
            let reports = called.reports
            switch called.result {
            case .success(.read(let answered)): return calls.loop.makeSucceededFuture((.success(answered), reports))
            case .success(.unverified(let response, let failure)):
                return verified(response, failure, until: deadline, triesLeft: Self.keyTries).map { ($0, reports) }
            case .failure(let failure): return calls.loop.makeSucceededFuture((.failure(.call(failure)), reports))
            }
        }.whenSuccess { [self] result, reports in end(key, askedAt: askedAt, result, by: id, reports) }
    }

    /// - Throws: ``CallFailure`` unless other keys could help.
    private func read(_ response: [UInt8], _ now: UnixTime) throws(CallFailure) -> Reading {
        let snapshot = keys.latest
        guard let verifier = memory.verifier else { throw .notSent(.credential) }
        do throws(CallFailure) {
            let answer = try verifier.introspection(
                in: response, with: snapshot?.keys ?? .empty, algorithms: snapshot?.algorithms ?? .all,
                under: responseRules, now: now)
            return .read((answer, snapshot.map(SigningKeys.init)))
        } catch {
            guard error == .answerInvalid(.signedResponse(.signature)) else { throw error }
            return .unverified(response, error)
        }
    }

    /// How often newer keys are waited for: a fetch that was under way already may miss them.
    private static let keyTries = 3

    /// Verifies a signed response once its key has been fetched.
    private func verified(
        _ response: [UInt8], _ failure: CallFailure, until deadline: MonotonicTime, triesLeft: Int
    ) -> EventLoopFuture<Result<Answered, IntrospectionFailure>> {
        let loop = calls.loop
        guard triesLeft > 0 else { return loop.makeSucceededFuture(.failure(.call(failure))) }
        return keys.newer(for: response, until: deadline).hop(to: loop).flatMap { [self] outcome in
            switch outcome {
            case .unchanged: return loop.makeSucceededFuture(.failure(.call(failure)))
            case .unavailable(let retryAfter):
                return loop.makeSucceededFuture(.failure(.keysUnavailable(retryAfter: retryAfter)))
            case .refreshed, .retry: break
            }
            do throws(CallFailure) {
                switch try read(response, .now()) {
                case .read(let answered): return loop.makeSucceededFuture(.success(answered))
                case .unverified(_, let failure):
                    let left = outcome == .retry ? triesLeft - 1 : 0
                    return verified(response, failure, until: deadline, triesLeft: left)
                }
            } catch {
                return loop.makeSucceededFuture(.failure(.call(error)))
            }
        }
    }

    /// Answers everyone who waits for a question.
    ///
    /// - Parameter id: of the request that asked it, which reports the calls.
    private func end(
        _ key: IntrospectionKey, askedAt: MonotonicTime, _ result: Result<Answered, IntrospectionFailure>,
        by id: Int, _ reports: [CallReport]
    ) {
        let now = SystemClocks.monotonic()
        let answered = try? result.get()
        var outcome: IntrospectionMemory<Waiter>.Outcome?
        var known: KnownAnswer?
        switch answered?.answer {
        case .inactive?: outcome = .inactive
        case .active(let token)?:
            let answer = KnownAnswer(token: token, keys: answered?.keys, askedAt: askedAt)
            (outcome, known) = (.active(answer), answer)
        case nil: break
        }
        let waiters = memory.state.value.end(key, outcome, keepingFor: rules.cachePeriod, now: now, .now())
        for (waiter, promise) in waiters {
            promise.succeed(
                Introspection(
                    result: result.map(\.answer), keys: answered?.keys, age: now - askedAt,
                    calls: waiter == id ? reports : [], known: known))
        }
    }
}

/// How a provider is asked about opaque tokens.
package struct IntrospectionRules: Sendable, Equatable {
    /// How long an answer about an active token is used again; 0: each request asks.
    package var cachePeriod = Interval.seconds(0)
    /// `nil`: the discovery document names it.
    package var endpoint: String?
    /// Whether answers that are not signed are refused.
    package var mustBeSigned = false

    package init() {}
}

typealias Waiter = EventLoopPromise<Introspection>

extension UnixTime {
    fileprivate static func now() -> UnixTime { UnixTime(seconds: SystemClocks.unixSeconds()) }
}
