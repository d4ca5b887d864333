import Foundation
import HTTP
import JOSE
import Keys
import Testing
import TestSupport

/// Replays recorded key rotations of providers, in order and with their times, to the key store.
@Suite struct RotationHistories {
    private static let providers = ["apple", "facebook", "gitlab", "google", "slack", "twitch", "yahoo"]

    @Test func `no history is left out`() throws {
        #expect(try Vectors.names(in: "real/rotation") == Self.providers.map { $0 + ".json" })
    }

    @Test(arguments: providers, [6, 24] as [Int64])
    func `every key serves from its first second on, and none for long after it is gone`(
        provider: String, lifetimeHours: Int64
    ) throws {
        let history = try History(provider)
        var store = Replay(history, lifetime: .seconds(lifetimeHours * 3600))
        store.begin()
        for (index, change) in history.changes.enumerated() {
            // A user signs in one second after the provider has changed its keys, with any of them.
            store.move(to: change.at + .seconds(1))
            for keyID in change.keyIDs {
                #expect(try store.signIn(with: keyID), "\(keyID), new in change \(index), was not found at once")
            }
            // The next planned fetch notices removed keys, and the one after it settles the removal.
            let settled = change.at + .seconds(lifetimeHours * 3600 + 600)
            guard history.changes.indices.contains(index + 1), settled < history.changes[index + 1].at else { continue }
            store.move(to: settled)
            #expect(store.keyIDs == change.keyIDs, "what is gone since change \(index) is still here, or more is gone")
        }
        // Slightly more than once per lifetime, plus two per change: one to find a key, one to settle a removal.
        let lifetimes = Int((history.length.milliseconds / 1000) / (lifetimeHours * 3600)) + 1
        #expect(store.fetches <= lifetimes * 4 / 3 + 1 + 2 * history.changes.count)
        try VectorResults(source: "Key rotation of \(provider)", cases: history.changes.count).record()
    }
}

private struct History {
    struct Change {
        let at: MonotonicTime
        let keys: JWKSet
        let text: [UInt8]

        /// The `kid`s of the usable keys.
        var keyIDs: Set<String> { Set(keys.keys.filter(\.isUsable).compactMap(\.keyID)) }
    }

    let changes: [Change]

    init(_ provider: String) throws {
        changes = try Vectors.json("real/rotation/\(provider).json").list("snapshots").map { snapshot in
            let date = try #require(ISO8601DateFormatter().date(from: snapshot.text("at")))
            let text = try jwkSet(snapshot.member("jwks").list("keys"))
            return Change(
                at: MonotonicTime(milliseconds: Int64(date.timeIntervalSince1970) * 1000), keys: try JWKSet(text),
                text: text)
        }
    }

    /// The keys that the provider published at a time.
    func published(at time: MonotonicTime) -> Change { changes.last { $0.at <= time } ?? changes[0] }

    var length: Interval { changes[changes.count - 1].at - changes[0].at }
}

/// The key store's state machine with a provider that answers at once, on the history's clock.
private struct Replay {
    private let history: History
    private let lifetime: Interval
    private var machine = KeyStore.StateMachine(rules: KeyRules(), random: SystemRandomNumberGenerator())
    private var now: MonotonicTime
    private var timer: MonotonicTime?
    private var lastSent: [UInt8]?
    private var outcome: KeyStore.StateMachine.Outcome?
    private(set) var fetches = 0

    init(_ history: History, lifetime: Interval) {
        self.history = history
        self.lifetime = lifetime
        now = history.changes[0].at
    }

    var keyIDs: Set<String> {
        Set(machine.snapshot?.keys.keys.filter(\.isUsable).compactMap(\.keyID) ?? [])
    }

    mutating func begin() { run(machine.start(now: now)) }

    mutating func move(to time: MonotonicTime) {
        while let due = timer, due <= time {
            timer = nil
            now = due
            run(machine.timerFired(now: now))
        }
        now = time
    }

    /// Whether a token's key is available, after a fetch if one is due.
    mutating func signIn(with keyID: String) throws -> Bool {
        let version = try #require(machine.snapshot).version
        if keyIDs.contains(keyID) { return true }
        outcome = nil
        run(machine.wait(for: .key(keyID), judgedBy: version, id: 1, until: now + .seconds(5), now: now))
        return outcome == .refreshed && keyIDs.contains(keyID)
    }

    private mutating func run(_ effects: [KeyStore.StateMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .startFetch(let mode): run(machine.fetchSucceeded(fetch(mode), now: now))
            case .setTimer(let time): timer = time
            case .resume(_, let outcome): self.outcome = outcome
            case .readFallback, .publish, .keep, .report: break
            }
        }
    }

    /// The answer of a provider with correct entity tags.
    private mutating func fetch(_ mode: FetchMode) -> FetchedKeys {
        fetches += 1
        let published = history.published(at: now)
        defer { lastSent = published.text }
        return FetchedKeys(
            keys: published.keys, text: published.text, algorithms: .all, source: .network,
            lifetime: lifetime, fetchedAtUnixSeconds: now.milliseconds / 1000,
            isNotModified: mode == .revalidate && lastSent == published.text)
    }
}
