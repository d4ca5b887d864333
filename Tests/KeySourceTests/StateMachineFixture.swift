import Clocks
import JOSE
import KeySource

typealias Machine = KeyStore.StateMachine

/// An effect as a value that can be compared: of a snapshot, what tells it apart.
enum Seen: Equatable {
    case startFetch
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
            case .startFetch: .startFetch
            case .publish(let snapshot):
                .publish(
                    Published(
                        version: snapshot.version, keyIDs: snapshot.keyIDs, fetchedAt: snapshot.fetchedAt,
                        freshUntil: snapshot.freshUntil, usableUntil: snapshot.usableUntil))
            case .keep(let keys, let lifetime): .keep(keys.keys.keys.compactMap(\.keyID), lifetime: lifetime)
            case .resume(let id, let outcome): .resume(id, outcome)
            case .report(let event): .report(event)
            case .setTimer(let time): .setTimer(time)
            }
    }
}

/// A state machine and the time it is by its clock.
struct Scene {
    var machine: Machine
    var now = Scene.birth

    static let birth = MonotonicTime(milliseconds: 1_000_000)
    static let failure = FetchFailure(.connect, "the connection was refused or broke")

    init(_ rules: KeyRules = KeyRules(), random: any RandomNumberGenerator & Sendable = ConstantGenerator.lowest) {
        machine = Machine(rules: rules, random: random)
    }

    /// A machine with the key `a`, at second 0.
    static func ready(
        _ rules: KeyRules = KeyRules(), random: any RandomNumberGenerator & Sendable = ConstantGenerator.lowest
    ) -> Scene {
        var scene = Scene(rules, random: random)
        scene.start()
        scene.succeed()
        return scene
    }

    /// Seconds since the scene began.
    static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(milliseconds: birth.milliseconds + Int64((seconds * 1000).rounded()))
    }

    mutating func moveTo(_ seconds: Double) { now = Scene.at(seconds) }

    /// Moves to when the next fetch is due, and begins it.
    mutating func moveToNextFetch() {
        now = machine.nextFetch!
        fireTimer()
    }

    @discardableResult mutating func start() -> [Seen] { machine.start(now: now).map(Seen.init) }

    /// A wait with five seconds of patience, of a request that was judged by the newest keys where nothing else is said.
    @discardableResult mutating func wait(_ need: Machine.Need, judgedBy version: Int? = nil, id: Int = 7) -> [Seen] {
        machine.wait(
            for: need, judgedBy: version ?? machine.snapshot?.version ?? 0, id: id, until: now + .seconds(5), now: now
        ).map(Seen.init)
    }

    @discardableResult mutating func succeed(_ keyIDs: [String] = ["a"], lifetime: Interval? = nil) -> [Seen] {
        machine.fetchSucceeded(KeySets.fetched(keyIDs, lifetime: lifetime), now: now).map(Seen.init)
    }

    @discardableResult mutating func fail() -> [Seen] {
        machine.fetchFailed(Scene.failure, now: now).map(Seen.init)
    }

    @discardableResult mutating func fireTimer() -> [Seen] { machine.timerFired(now: now).map(Seen.init) }

    @discardableResult mutating func restore(_ keyIDs: [String], age: Interval) -> [Seen] {
        machine.restored(KeySets.fetched(keyIDs), age: age, now: now).map(Seen.init)
    }
}

extension [Seen] {
    var startsFetch: Bool { contains(.startFetch) }

    var answers: [Int: Machine.Outcome] {
        reduce(into: [:]) { if case .resume(let id, let outcome) = $1 { $0[id] = outcome } }
    }

    var timer: MonotonicTime? {
        reduce(nil) { if case .setTimer(let time) = $1 { time } else { $0 } }
    }

    var reports: [KeyEvent] { compactMap { if case .report(let event) = $0 { event } else { nil } } }
}

func unavailable(_ milliseconds: Int64) -> Machine.Outcome {
    .unavailable(retryAfter: Interval(milliseconds: milliseconds))
}
