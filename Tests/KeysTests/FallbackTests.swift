import HTTP
import Keys
import Testing

/// Keys in a local fallback file, used when the provider can't be reached.
@Suite struct FallbackTests {
    private static var rules: KeyRules {
        var rules = KeyRules()
        rules.hasFallback = true
        return rules
    }

    /// When the keys fetched at second 0 become unusable.
    private static let end = 300 + Scene.day + 0.001

    // MARK: When the file is read

    @Test func `it is read at the beginning, beside the first fetch, where there are no keys`() {
        var scene = Scene(Self.rules)
        #expect(scene.start() == [.startFetch(.reload), .readFallback])
        var without = Scene()
        #expect(without.start() == [.startFetch(.reload)])
    }

    @Test func `it is not read at the beginning where keys were kept`() {
        var scene = Scene(Self.rules)
        scene.restore(["d"], age: .seconds(300 + 86400))
        #expect(!scene.start().contains(.readFallback))
    }

    @Test func `it is read again after every fetch that fails while there are no other keys`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.failToFallBack()
        for isThere in [false, true, true, false, true] {
            #expect(scene.fail().contains(.readFallback))
            if isThere { scene.fallBack() } else { scene.failToFallBack() }
            scene.moveToNextFetch()
        }
    }

    @Test func `it is left alone while the provider's keys are usable`() {
        var scene = Scene.ready(Self.rules)
        scene.moveTo(300 + Scene.day)
        #expect(!scene.fireTimer().contains(.readFallback))
        #expect(!scene.fail().contains(.readFallback))
        scene.wait(.refresh(dropsOmitted: true))
        #expect(!scene.fail().contains(.readFallback))
    }

    @Test func `it is read when the provider's last keys have served their time`() {
        var scene = Scene.ready(Self.rules)
        scene.moveTo(Self.end - 10)
        scene.fireTimer()
        scene.fail(retryAfter: .seconds(300))
        scene.moveTo(Self.end)
        #expect(scene.fireTimer().contains(.readFallback))
        // It is read once; later reads depend on fetches.
        scene.moveTo(Self.end + 1)
        #expect(!scene.fireTimer().contains(.readFallback))
    }

    @Test(arguments: [Machine.FetchReason.key("b"), .refresh(dropsOmitted: true)])
    func `it is read then even where a request comes before the timer`(need: Machine.FetchReason) {
        var scene = Scene.ready(Self.rules)
        scene.moveToNextFetch()
        scene.moveTo(Self.end)
        let effects = scene.wait(need) + scene.fireTimer()
        #expect(effects.filter { $0 == .readFallback } == [.readFallback])
    }

    @Test func `it is read at once where its own keys have run out`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fallBack()
        scene.moveTo(600.001)
        #expect(scene.fireTimer().contains(.readFallback))
    }

    // MARK: Trust in its keys

    @Test func `its keys are stale from the beginning, and serve until they are read again`() throws {
        var scene = Scene(Self.rules)
        scene.start()
        scene.moveTo(1)
        let effects = scene.fallBack(["f", "g"])
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.source == .file)
        #expect(snapshot.keyIDs == ["f", "g"])
        #expect(snapshot.fetchedAt == Scene.at(1))
        #expect(snapshot.isStale(at: scene.now))
        #expect(snapshot.usableUntil == Scene.at(601))
        #expect(effects.reports == [.keysChanged(keyIDs: ["f", "g"]), .stateChanged(.stale)])
        // They come from the operator's own file, so they are not archived.
        #expect(effects.kept == nil)
        #expect(effects.timer == Scene.at(601.001))
    }

    @Test func `reading them again keeps them usable through an outage`() {
        var scene = Scene(Self.rules, random: ConstantGenerator(number: .max))
        scene.start()
        for _ in 0..<100 {
            scene.fail()
            scene.fallBack()
            scene.moveToNextFetch()
            // A fetch may take long before it fails.
            scene.now = scene.now + .seconds(60)
            #expect(scene.machine.snapshot?.isUsable(at: scene.now) == true)
        }
    }

    @Test func `they are read anew, as they are then`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fallBack(["f"])
        scene.fail()
        #expect(scene.fallBack(["f"]).reports == [])
        scene.moveToNextFetch()
        scene.fail()
        #expect(scene.fallBack(["g"]).reports == [.keysChanged(keyIDs: ["g"])])
        #expect(scene.keyIDs == ["g"])
    }

    @Test func `who waited for any keys gets these, and who needs another waits on`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.wait(.key("b"), id: 2)
        scene.wait(.refresh(dropsOmitted: true), id: 3)
        #expect(scene.fallBack().answers == [1: .retry])
        #expect(scene.succeed().answers == [2: .retry])
    }

    // MARK: Who waits for it

    /// A connection may be refused before a file is read.
    @Test func `a fetch that fails first does not refuse those who need any keys`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.wait(.key("b"), id: 2)
        let effects = scene.fail()
        #expect(effects.answers.keys.sorted() == [2])
        #expect(!effects.contains(.readFallback))
        #expect(scene.wait(.anyKeys(mayFetch: true), id: 3).answers == [:])
        #expect(scene.wait(.anyKeys(mayFetch: false), id: 4).answers == [:])
        #expect(scene.fallBack().answers == [1: .retry, 3: .retry, 4: .retry])
    }

    @Test func `without keys in it they are refused until the next fetch, which begins when it is due`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.fail(retryAfter: .seconds(60))
        let refused = [Machine.Outcome.unavailable(retryAfter: .seconds(60))]
        #expect(Array(scene.failToFallBack().answers.values) == refused)
        #expect(Array(scene.wait(.anyKeys(mayFetch: true), id: 2).answers.values) == refused)
        scene.moveTo(60)
        #expect(scene.fireTimer().contains(.startFetch(.reload)))
    }

    @Test func `a fetch that is due meanwhile begins, and answers them`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fail(retryAfter: .seconds(4))
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.moveTo(4)
        #expect(scene.fireTimer().contains(.startFetch(.reload)))
        #expect(scene.failToFallBack().answers == [:])
        #expect(scene.succeed(["a"]).answers == [1: .retry])
    }

    // MARK: The provider's keys come first

    @Test func `the provider's keys take their place, and it is settled at once`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fallBack(["f"])
        let effects = scene.succeed(["a"])
        #expect(scene.keyIDs == ["a"])
        #expect(scene.machine.snapshot?.source == .network)
        #expect(effects.reports == [.keysChanged(keyIDs: ["a"]), .fetched, .stateChanged(.ready)])
        #expect(effects.kept == ["a"])
    }

    @Test func `they take the place of no usable keys, fetched or kept`() {
        var fetched = Scene(Self.rules)
        fetched.start()
        fetched.succeed(["a"])
        #expect(fetched.fallBack() == [])
        #expect(fetched.keyIDs == ["a"])
        fetched.moveTo(300 + Scene.day)
        #expect(fetched.fallBack() == [])

        var kept = Scene(Self.rules)
        kept.restore(["d"], age: .seconds(86400))
        #expect(kept.fallBack() == [])
        #expect(kept.machine.snapshot?.source == .disk)
    }

    /// Reading from disk may be slow.
    @Test func `keys of the provider's that were kept take their place, however late they come`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fallBack(["f"])
        let effects = scene.restore(["d"], age: .seconds(60))
        #expect(scene.keyIDs == ["d"])
        #expect(effects.reports == [.keysChanged(keyIDs: ["d"]), .stateChanged(.ready)])
        #expect(scene.fallBack() == [])
    }

    @Test func `but not once the provider has answered, even where that answer has served its time`() {
        var rules = Self.rules
        rules.staleIfError = .seconds(0)
        var scene = Scene.ready(rules, ["a"])
        scene.moveTo(300.001)
        scene.fireTimer()
        scene.fallBack(["f"])
        #expect(scene.restore(["a", "b"], age: .seconds(60)) == [])
        #expect(scene.keyIDs == ["f"])
    }

    @Test func `they take the place of keys that have served their time`() {
        var scene = Scene.ready(Self.rules)
        scene.moveTo(Self.end)
        scene.fireTimer()
        #expect(scene.fallBack().publishes)
        #expect(scene.machine.snapshot?.source == .file)
        #expect(scene.keyIDs == ["f"])
    }

    @Test func `what the provider left out before is forgotten with its keys`() {
        var rules = Self.rules
        rules.staleIfError = .seconds(0)
        var scene = Scene.ready(rules, ["a", "b"])
        scene.refresh(["a"])
        #expect(scene.omittedKeyIDs == ["b"])
        scene.moveTo(225 + 300.001)
        scene.fireTimer()
        scene.fallBack(["f"])
        #expect(scene.keyIDs == ["f"])
        #expect(scene.omittedKeyIDs == [])
    }

    // MARK: An invalid fallback

    @Test func `that it has no keys is reported once, until it had some`() {
        var scene = Scene(Self.rules)
        scene.start()
        let broken = [Seen.report(.fallbackFailed(FetchFailure(.file, "there is no such file")))]
        #expect(scene.failToFallBack() == broken)
        #expect(scene.failToFallBack() == [])
        #expect(scene.failToFallBack() == [])
        scene.fallBack()
        #expect(scene.failToFallBack() == broken)
        // Also if its keys were not needed.
        scene.succeed()
        scene.fallBack()
        #expect(scene.failToFallBack() == broken)
    }

    @Test func `keys that could not be read again serve on for their time`() {
        var scene = Scene(Self.rules)
        scene.start()
        scene.fallBack()
        scene.fail()
        scene.failToFallBack()
        #expect(scene.keyIDs == ["f"])
        #expect(scene.machine.snapshot?.isUsable(at: Scene.at(600)) == true)
        #expect(scene.machine.snapshot?.isUsable(at: Scene.at(600.001)) == false)
    }
}
