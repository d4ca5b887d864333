import HTTP
import Keys
import Testing

/// When keys are ready, stale or unavailable, and that each change is reported once.
@Suite struct KeyStateTests {
    private static let freshEnd = 300.0
    private static let end = 300 + Scene.day

    @Test func `keys are stale past their lifetime and unavailable past the bound, to the millisecond`() throws {
        let snapshot = try #require(Scene.ready().machine.snapshot)
        #expect(KeyState(nil, at: Scene.birth) == .unavailable)
        #expect(KeyState(snapshot, at: Scene.birth) == .ready)
        #expect(KeyState(snapshot, at: Scene.at(Self.freshEnd)) == .ready)
        #expect(KeyState(snapshot, at: Scene.at(Self.freshEnd + 0.001)) == .stale)
        #expect(KeyState(snapshot, at: Scene.at(Self.end)) == .stale)
        #expect(KeyState(snapshot, at: Scene.at(Self.end + 0.001)) == .unavailable)
    }

    /// The changes of state among some effects.
    private func changes(_ effects: [Seen]) -> [KeyState] {
        effects.reports.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    @Test func `each change is reported once, when it happens`() {
        var scene = Scene()
        #expect(changes(scene.start()) == [])
        #expect(changes(scene.succeed()) == [.ready])
        #expect(changes(scene.moveToNextFetch()) == [])
        scene.moveTo(Self.freshEnd)
        #expect(changes(scene.fireTimer()) == [])
        scene.moveTo(Self.freshEnd + 0.001)
        #expect(changes(scene.fireTimer()) == [.stale])
        #expect(changes(scene.fireTimer()) == [])
        scene.moveTo(Self.end)
        #expect(changes(scene.fireTimer()) == [])
        scene.moveTo(Self.end + 0.001)
        #expect(changes(scene.fireTimer()) == [.unavailable])
        #expect(changes(scene.fail()) == [])
        #expect(changes(scene.fireTimer()) == [])
        scene.moveToNextFetch()
        #expect(changes(scene.succeed()) == [.ready])
    }

    @Test func `the timer is set for the moment after, while a fetch is under way and while one is put off`() {
        var scene = Scene.ready()
        #expect(scene.moveToNextFetch().timer == Scene.at(Self.freshEnd + 0.001))
        #expect(scene.fail(retryAfter: .seconds(300)).timer == Scene.at(Self.freshEnd + 0.001))
        scene.moveTo(Self.freshEnd + 0.001)
        #expect(scene.fireTimer().timer == Scene.at(225 + 300))
        #expect(scene.moveToNextFetch().timer == Scene.at(Self.end + 0.001))
        scene.moveTo(Self.end + 0.001)
        #expect(scene.fireTimer().timer == nil)
    }

    @Test func `whatever happens first after the bound tells of it`() {
        for event in 0..<3 {
            var scene = Scene.ready()
            scene.moveToNextFetch()
            scene.moveTo(Self.freshEnd + 1)
            let effects =
                switch event {
                case 0: scene.fail()
                case 1: scene.wait(.newerKeys)
                default: scene.start()
                }
            #expect(changes(effects) == [.stale])
            #expect(changes(scene.fireTimer()) == [])
        }
    }

    @Test func `keys that are replaced in time stay ready`() {
        var scene = Scene.ready()
        for _ in 0..<10 { #expect(changes(scene.refresh(["a"])) == []) }
    }

    @Test func `stale keys that are fetched anew are ready again`() {
        var scene = Scene.ready()
        scene.moveTo(Self.freshEnd + 1)
        scene.fireTimer()
        #expect(changes(scene.succeed()) == [.ready])
    }

    @Test func `kept keys are ready or stale, as they are old`() {
        var young = Scene()
        #expect(changes(young.restore(["d"], age: .seconds(300))) == [.ready])
        var old = Scene()
        #expect(changes(old.restore(["d"], age: .seconds(301))) == [.stale])
    }

    // MARK: Clocks that go backwards

    @Test func `time that goes back stands still`() throws {
        var scene = Scene.ready()
        scene.moveTo(200)
        scene.fireTimer()
        scene.moveTo(100)
        // Half a second later than the latest known time.
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        scene.fail()
        #expect(scene.machine.nextFetch == Scene.at(200.5))
        scene.moveTo(200.4)
        #expect(!scene.fireTimer().startsFetch)
        scene.moveTo(200.5)
        #expect(scene.fireTimer().startsFetch)
        scene.moveTo(50)
        scene.succeed()
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.fetchedAt == Scene.at(200.5))
        #expect(snapshot.freshUntil == Scene.at(500.5))
    }

    @Test func `keys that have turned stale do not turn ready by it`() {
        var scene = Scene.ready()
        scene.moveTo(Self.freshEnd + 1)
        scene.fireTimer()
        scene.moveTo(0)
        #expect(changes(scene.fireTimer()) == [])
        #expect(changes(scene.fail()) == [])
    }

    @Test func `it extends no deadline`() {
        var scene = Scene()
        scene.moveTo(100)
        scene.start()
        scene.moveTo(0)
        // By the latest known time, its deadline has passed.
        #expect(scene.wait(.anyKeys(mayFetch: true), id: 1).timer == Scene.at(5))
        #expect(scene.fireTimer().answers == [1: unavailable(1000)])
    }

    @Test func `the budget for unknown keys does not shrink or grow by it`() {
        var scene = Scene.ready()
        scene.moveTo(100)
        for id in 1...2 {
            #expect(scene.wait(.newerKeys, id: id).startsFetch)
            scene.succeed()
        }
        scene.moveTo(20)
        #expect(!scene.wait(.newerKeys, id: 3).startsFetch)
        scene.moveTo(129.999)
        #expect(!scene.wait(.newerKeys, id: 4).startsFetch)
        scene.moveTo(130)
        #expect(scene.wait(.newerKeys, id: 5).startsFetch)
    }

    @Test func `a key that was left out does not serve longer by it`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.refresh(["a"])
        scene.moveTo(10)
        scene.fireTimer()
        #expect(scene.omittedKeyIDs == ["b"])
        scene.moveTo(225 + 3600)
        scene.fireTimer()
        scene.moveTo(10)
        scene.fireTimer()
        #expect(scene.omittedKeyIDs == [])
    }
}
