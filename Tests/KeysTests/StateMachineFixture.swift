import HTTP
import JOSE
import Keys

typealias Machine = KeyStore.StateMachine

/// An effect in comparable form; a snapshot is reduced to what identifies it.
enum Seen: Equatable {
    case startFetch(FetchMode)
    case readFallback
    case publish(Published)
    case keep([String], lifetime: Interval)
    case resume(Int, Machine.Outcome)
    case report(KeyEvent)
    case setTimer(MonotonicTime)

    struct Published: Equatable {
        let version: Int
        let keyIDs: [String]
        let fetchedAt, freshUntil, usableUntil: MonotonicTime
    }

    init(_ effect: Machine.Effect) {
        self =
            switch effect {
            case .startFetch(let mode): .startFetch(mode)
            case .readFallback: .readFallback
            case .publish(let snapshot):
                .publish(
                    Published(
                        version: snapshot.version, keyIDs: snapshot.keyIDs, fetchedAt: snapshot.fetchedAt,
                        freshUntil: snapshot.freshUntil, usableUntil: snapshot.usableUntil))
            case .keep(let keys, let omitted, let lifetime):
                .keep((keys.keys.keys + omitted).compactMap(\.keyID), lifetime: lifetime)
            case .resume(let id, let outcome): .resume(id, outcome)
            case .report(let event): .report(event)
            case .setTimer(let time): .setTimer(time)
            }
    }
}

/// A state machine with its virtual clock.
struct Scene {
    var machine: Machine
    var now = Scene.birth

    static let birth = MonotonicTime(milliseconds: 1_000_000)
    static let failure = FetchFailure(.connect, "the connection was refused or broke")
    static let day = 86400.0

    init(_ rules: KeyRules = KeyRules(), random: any RandomNumberGenerator & Sendable = ConstantGenerator.lowest) {
        machine = Machine(rules: rules, random: random)
    }

    /// A machine with the key `a`, unless a test sets others, at second 0.
    static func ready(
        _ rules: KeyRules = KeyRules(), _ keyIDs: [String] = ["a"], lifetime: Interval? = nil,
        random: any RandomNumberGenerator & Sendable = ConstantGenerator.lowest
    ) -> Scene {
        var scene = Scene(rules, random: random)
        scene.start()
        scene.succeed(keyIDs, lifetime: lifetime)
        // It was read beside the first fetch, and is not needed any more.
        if rules.hasFallback { scene.fallBack() }
        return scene
    }

    /// The keys `a` and `b`. The second answer, after 225 seconds, omitted `b`.
    static func omitting(lifetime: Interval? = nil) -> Scene {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.refresh(["a"], lifetime: lifetime)
        return scene
    }

    /// Seconds since the start.
    static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(milliseconds: birth.milliseconds + Int64((seconds * 1000).rounded()))
    }

    mutating func moveTo(_ seconds: Double) { now = Scene.at(seconds) }

    /// Advances to the next planned fetch, and starts it.
    @discardableResult mutating func moveToNextFetch() -> [Seen] {
        now = machine.nextFetch!
        return fireTimer()
    }

    @discardableResult mutating func start() -> [Seen] { machine.start(now: now).map(Seen.init) }

    /// A wait with a timeout of five seconds, for a request judged by the newest keys unless a test says otherwise.
    @discardableResult mutating func wait(_ need: Machine.FetchReason, judgedBy version: Int? = nil, id: Int = 7)
        -> [Seen]
    {
        machine.wait(
            for: need, judgedBy: version ?? machine.snapshot?.version ?? 0, id: id, until: now + .seconds(5), now: now
        ).map(Seen.init)
    }

    @discardableResult mutating func succeed(
        _ keyIDs: [String] = ["a"], lifetime: Interval? = nil, isNotModified: Bool = false
    ) -> [Seen] {
        succeed(KeySets.fetched(keyIDs, lifetime: lifetime, isNotModified: isNotModified))
    }

    @discardableResult mutating func succeed(_ fetched: FetchedKeys) -> [Seen] {
        machine.fetchSucceeded(fetched, now: now).map(Seen.init)
    }

    /// Advances to the next planned fetch, and completes it successfully at once.
    @discardableResult mutating func refresh(
        _ keyIDs: [String], lifetime: Interval? = nil, isNotModified: Bool = false
    ) -> [Seen] {
        moveToNextFetch()
        return succeed(keyIDs, lifetime: lifetime, isNotModified: isNotModified)
    }

    @discardableResult mutating func fail(retryAfter: Interval? = nil) -> [Seen] {
        let failure = retryAfter.map { FetchFailure(.http, "the server is busy", retryAfter: $0) } ?? Scene.failure
        return machine.fetchFailed(failure, now: now).map(Seen.init)
    }

    @discardableResult mutating func fireTimer() -> [Seen] { machine.timerFired(now: now).map(Seen.init) }

    @discardableResult mutating func restore(
        _ keyIDs: [String], omitted: [String] = [], age: Interval
    ) -> [Seen] {
        machine.restored(
            KeySets.fetched(keyIDs, source: .disk), omitted: omitted.isEmpty ? [] : KeySets.fetched(omitted).keys.keys,
            age: age, now: now
        ).map(Seen.init)
    }

    @discardableResult mutating func fallBack(_ keyIDs: [String] = ["f"]) -> [Seen] {
        machine.fallbackSucceeded(KeySets.fetched(keyIDs, source: .file), now: now).map(Seen.init)
    }

    @discardableResult mutating func failToFallBack() -> [Seen] {
        machine.fallbackFailed(FetchFailure(.file, "there is no such file"), now: now).map(Seen.init)
    }

    /// The `kid`s of the keys in use, and of those that the provider's last answer omitted.
    var keyIDs: [String] { machine.snapshot?.keyIDs ?? [] }
    var omittedKeyIDs: [String?] {
        machine.snapshot.map { $0.keys.keys.suffix($0.omittedKeyCount).map(\.keyID) } ?? []
    }
}

extension [Seen] {
    var startsFetch: Bool { fetchMode != nil }

    /// The mode of the fetch that starts.
    var fetchMode: FetchMode? { reduce(nil) { if case .startFetch(let mode) = $1 { mode } else { $0 } } }

    var answers: [Int: Machine.Outcome] {
        reduce(into: [:]) { if case .resume(let id, let outcome) = $1 { $0[id] = outcome } }
    }

    var timer: MonotonicTime? {
        reduce(nil) { if case .setTimer(let time) = $1 { time } else { $0 } }
    }

    var reports: [KeyEvent] { compactMap { if case .report(let event) = $0 { event } else { nil } } }

    /// The `kid`s of the archived keys; `nil` if nothing is archived.
    var kept: [String]? { reduce(nil) { if case .keep(let keyIDs, _) = $1 { keyIDs } else { $0 } } }

    var publishes: Bool { contains { if case .publish = $0 { true } else { false } } }
}

func unavailable(_ milliseconds: Int64) -> Machine.Outcome {
    .unavailable(retryAfter: Interval(milliseconds: milliseconds))
}
