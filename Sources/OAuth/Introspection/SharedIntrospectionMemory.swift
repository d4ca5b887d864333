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

    /// - Returns: `nil` if OpenSSL fails.
    func sha256(of token: AccessToken) -> [UInt8]? {
        var digest: [UInt8] = []
        try? verifier?.checker.withHash(of: token.text.utf8.span, .sha256) { hash in
            digest = hash.indices.map { hash[$0] }
        }
        return digest.isEmpty ? nil : digest
    }

    func makeID() -> Int {
        lastID.value += 1
        return lastID.value
    }

    /// The number of a new introspector, so that it uses no other one's answers.
    func makeEntry() -> Int { lastEntry.add(1, ordering: .relaxed).newValue }
}

/// The answers about active tokens that one event loop has used lately. Confined to that loop.
///
/// It keeps none alive: what ``SharedIntrospectionMemory`` forgets is forgotten here. But to ask there, on another event
/// loop, costs more than the rest of a request.
package final class LoopIntrospections {
    /// More than the default of `introspection.entries`.
    private var answers = BoundedTable<IntrospectionKey, Reference>(capacity: 16_384)

    package init() {}

    private struct Reference {
        weak var answer: KnownAnswer?
    }

    func usable(
        _ key: IntrospectionKey, upTo maximumAge: Interval, now: MonotonicTime, _ unixNow: UnixTime
    ) -> KnownAnswer? {
        guard let known = answers[key]?.answer, known.isUsable(upTo: maximumAge, now: now, unixNow) else { return nil }
        return known
    }

    func insert(_ answer: KnownAnswer, for key: IntrospectionKey) {
        answers.insert(Reference(answer: answer), for: key)
    }
}

extension Introspector {
    /// Names a token among a loop's answers.
    ///
    /// - Parameter verifier: the loop's.
    /// - Returns: `nil` if answers are not used again, or if OpenSSL fails.
    package func key(of token: ArraySlice<UInt8>, hashedBy verifier: JWSVerifier) -> IntrospectionKey? {
        guard rules.cachePeriod > .seconds(0) else { return nil }
        let sha256 = try? verifier.checker.withHash(of: token.span, .sha256) { hash in
            hash.indices.map { hash[$0] }
        }
        return sha256.map { IntrospectionKey(entry: entry, sha256: $0) }
    }

    /// What is known about a token on a loop.
    package func known(
        _ key: IntrospectionKey, on loop: LoopIntrospections, now: MonotonicTime, _ unixNow: UnixTime
    ) -> Introspection? {
        loop.usable(key, upTo: rules.cachePeriod, now: now, unixNow).map { Introspection($0, now: now) }
    }

    /// Keeps an answer on a loop, where it may be used again.
    package func keep(_ introspection: Introspection, for key: IntrospectionKey, on loop: LoopIntrospections) {
        if let known = introspection.known { loop.insert(known, for: key) }
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
