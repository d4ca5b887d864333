package import HTTP
package import IDToken
package import JOSE
package import Keys
package import NIOCore
private import OpenSSL
private import Synchronization

/// What all introspectors share: the answers, and what questions are hashed and verified with. Its state belongs to one
/// event loop.
package final class SharedIntrospectionMemory: Sendable {
    private let loop: any EventLoop
    let state: NIOLoopBoundBox<IntrospectionMemory<Waiter>>
    private let tools: NIOLoopBoundBox<JWSVerifier?>
    private let lastID: NIOLoopBoundBox<Int>
    private let lastEntry = Atomic(0)

    /// - Parameters:
    ///   - entries: how many answers about active tokens are kept; the same number for inactive ones.
    ///   - loop: that of all calls.
    package init(entries: Int, on loop: any EventLoop) {
        self.loop = loop
        state = NIOLoopBoundBox.makeBoxSendingValue(IntrospectionMemory(capacity: entries), eventLoop: loop)
        tools = NIOLoopBoundBox.makeBoxSendingValue(nil, eventLoop: loop)
        lastID = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    }

    /// Changes how many answers are kept.
    package func change(entries: Int) {
        loop.execute { [state] in state.value.capacity = entries }
    }

    /// Made when it is first needed; `nil` when out of memory.
    var verifier: JWSVerifier? {
        if tools.value == nil { tools.value = try? JWSVerifier() }
        return tools.value
    }

    func makeID() -> Int {
        lastID.value += 1
        return lastID.value
    }

    /// The number of a new introspector, so that it uses no other one's answers.
    func makeEntry() -> Int { lastEntry.add(1, ordering: .relaxed).newValue }
}

/// The answers about active tokens that one event loop has used lately, and the tokens that were accepted by them.
/// Confined to that loop.
///
/// It keeps no answer alive: what ``SharedIntrospectionMemory`` forgets is not used here, either. But to ask there, on
/// another event loop, costs more than the rest of a request.
package final class LoopIntrospections {
    /// More than the default of `introspection.entries`, and about 16 MB.
    private var entries = BoundedTable<IntrospectionKey, Entry>(capacity: 16_384, meanSize: 1024)

    package init() {}

    private final class Entry {
        weak var answer: KnownAnswer?
        let token: KnownToken?

        init(_ answer: KnownAnswer, _ token: KnownToken?) { (self.answer, self.token) = (answer, token) }
    }

    package struct Known {
        package let answer: KnownAnswer
        /// `nil` if no request has accepted the token yet.
        package let token: KnownToken?
    }

    func usable(
        _ key: IntrospectionKey, upTo maximumAge: Interval, now: MonotonicTime, _ unixNow: UnixTime
    ) -> Known? {
        guard let entry = entries[key] else { return nil }
        guard let answer = entry.answer, answer.isUsable(upTo: maximumAge, now: now, unixNow) else {
            entries.remove(key)
            return nil
        }
        return Known(answer: answer, token: entry.token)
    }

    /// - Parameter token: `nil` if it was not accepted.
    package func insert(_ answer: KnownAnswer, _ token: KnownToken?, for key: IntrospectionKey) {
        entries.removeOldest { $0.answer == nil }
        entries.insert(Entry(answer, token), for: key, size: token?.size ?? 0)
    }
}

/// The results for an opaque token that a request has accepted. A later request repeats only the checks whose result may
/// change, and writes only the members of its own. The token's text is not kept.
package final class KnownToken: Sendable {
    package let token: IntrospectedToken
    /// The beginning of each answer about the token, as JSON: the members that don't depend on the request.
    package let answer: [UInt8]
    /// Identifies the rules by which it was accepted, within the verifier of one loop.
    package let rules: ObjectIdentifier

    package init(_ token: IntrospectedToken, under rules: ObjectIdentifier, answer: [UInt8]) {
        self.token = token
        self.answer = answer
        self.rules = rules
    }

    /// Approximately, in bytes. The answer counts twice, because the token holds the same strings.
    fileprivate var size: Int { 2 * answer.count + token.claimsText.count }
}

extension IntrospectionKey {
    /// - Returns: `nil` if OpenSSL fails.
    init?(_ entry: Int, _ token: Span<UInt8>, hashedBy verifier: JWSVerifier) {
        let sha256 = try? verifier.checker.withHash(of: token, .sha256) { hash in
            [UInt8](capacity: hash.count) { output in for index in hash.indices { output.append(hash[index]) } }
        }
        guard let sha256 else { return nil }
        self.init(entry: entry, sha256: sha256)
    }
}

extension Introspector {
    /// Names a token among a loop's answers.
    ///
    /// - Parameter verifier: the loop's.
    /// - Returns: `nil` if answers are not used again, or if OpenSSL fails.
    package func key(of token: ArraySlice<UInt8>, hashedBy verifier: JWSVerifier) -> IntrospectionKey? {
        guard rules.cachePeriod > .seconds(0) else { return nil }
        return IntrospectionKey(entry, token.span, hashedBy: verifier)
    }

    /// What is known about a token on a loop, if a request may use it.
    package func known(
        _ key: IntrospectionKey, on loop: LoopIntrospections, now: MonotonicTime, _ unixNow: UnixTime
    ) -> LoopIntrospections.Known? {
        loop.usable(key, upTo: rules.cachePeriod, now: now, unixNow)
    }
}

extension Introspection {
    init(_ known: KnownAnswer, now: MonotonicTime) {
        self.init(
            result: .success(.active(known.token)), keys: known.keys, isCached: true, age: now - known.askedAt,
            calls: [], known: known)
    }
}

/// The keys that signed a response.
package struct SigningKeys: Sendable {
    package let source: KeySnapshot.Source
    package let fetchedAt: MonotonicTime
    package let freshUntil: MonotonicTime

    init(_ snapshot: KeySnapshot) {
        source = snapshot.source
        fetchedAt = snapshot.fetchedAt
        freshUntil = snapshot.freshUntil
    }
}

/// The keys of a provider whose responses may be signed. They are fetched only once a signed response has come.
package final class ResponseKeys: Sendable {
    private let store: KeyStore
    private let demand: KeyDemand
    private let delivered: NIOLoopBoundBox<KeySnapshot?>

    /// - Parameters:
    ///   - demand: tells the store's fetcher that keys are needed.
    ///   - loop: that of all calls.
    package init(_ store: KeyStore, _ demand: KeyDemand, on loop: any EventLoop) {
        self.store = store
        self.demand = demand
        let delivered = NIOLoopBoundBox<KeySnapshot?>.makeBoxSendingValue(nil, eventLoop: loop)
        self.delivered = delivered
        _ = store.subscribe { snapshot in loop.submit { delivered.value = snapshot } }
    }

    /// The latest keys that may be used.
    var latest: KeySnapshot? {
        guard let snapshot = delivered.value, snapshot.isUsable(at: SystemClocks.monotonic()) else { return nil }
        return snapshot
    }

    /// Waits for keys that could have signed a response.
    func newer(
        for response: [UInt8], until deadline: MonotonicTime
    ) -> EventLoopFuture<KeyStore.StateMachine.Outcome> {
        demand.raise()
        let snapshot = latest
        let keyID = (try? CompactJWS(response[...]))?.header.keyID
        let need: KeyStore.StateMachine.FetchReason =
            switch keyID {
            case let keyID? where snapshot?.hasKey(keyID) == true: .replacedKey(keyID)
            case let keyID?: .key(keyID)
            case nil: .newerKeys
            }
        return store.wait(for: need, judgedBy: snapshot?.version ?? 0, until: deadline)
    }
}
