import HTTP
import Keys
import Testing

/// Keys that are fetched only for requests.
@Suite struct LazyKeysTests {
    private static let rules = {
        var rules = KeyRules()
        rules.isLazy = true
        return rules
    }()

    /// A machine whose first request has brought the key `a`, for five minutes.
    private func scene() -> Scene {
        var scene = Scene(Self.rules)
        let effects1 = scene.wait(.anyKeys(mayFetch: true))
        #expect(effects1.startsFetch == true)
        let succeeded = scene.succeed(["a"])
        #expect(succeeded.answers == [7: .refreshed])
        return scene
    }

    @Test func `a used issuer is refreshed ahead`() {
        var scene = scene()
        scene.now = scene.machine.nextFetch!
        #expect(scene.now < Scene.at(300))
        let effects2 = scene.machine.timerFired(now: scene.now, isUsed: true).map(Seen.init)
        #expect(effects2.startsFetch == true)
    }

    @Test func `an unused one is not, until it is used again`() {
        var scene = scene()
        scene.now = scene.machine.nextFetch!
        let effects3 = scene.machine.timerFired(now: scene.now, isUsed: false).map(Seen.init)
        #expect(effects3.startsFetch == false)
        let effects4 = scene.machine.used(now: scene.now).map(Seen.init)
        #expect(effects4.startsFetch == true)
        let effects5 = scene.machine.used(now: scene.now).map(Seen.init)
        #expect(effects5.startsFetch == false)
    }

    @Test func `expired keys are used only once a fetch has failed`() throws {
        var scene = scene()
        #expect(try #require(scene.machine.snapshot).isUsable(at: Scene.at(300)))
        #expect(!(try #require(scene.machine.snapshot).isUsable(at: Scene.at(300.001))))
        scene.moveTo(400)
        let effects6 = scene.wait(.anyKeys(mayFetch: true))
        #expect(effects6.startsFetch == true)
        let failed = scene.fail()
        #expect(failed.answers == [7: .retry])
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.isUsable(at: scene.now) && snapshot.isStale(at: scene.now))
        #expect(!snapshot.isUsable(at: Scene.at(300 + Scene.day + 1)))
    }

    @Test func `keys that are too old are not used even then`() {
        var scene = scene()
        scene.moveTo(301 + Scene.day)
        scene.wait(.anyKeys(mayFetch: true))
        if case .unavailable? = scene.fail().answers[7] {} else { Issue.record("they were used") }
    }

    @Test func `unused keys that expire are no outage`() {
        var scene = scene()
        scene.moveTo(301)
        let effects = scene.machine.timerFired(now: scene.now, isUsed: false).map(Seen.init)
        #expect(effects.reports == [])
    }

    @Test func `fresh keys from the disk are used and refreshed beside, expired ones only after a failure`() {
        var fresh = Scene(Self.rules)
        fresh.restore(["a"], age: .seconds(10))
        #expect(fresh.machine.snapshot?.isUsable(at: fresh.now) == true)
        let effects7 = fresh.start()
        #expect(effects7.startsFetch == true)

        var old = Scene(Self.rules)
        old.restore(["a"], age: .seconds(600))
        #expect(old.machine.snapshot?.isUsable(at: old.now) == false)
        let effects8 = old.wait(.anyKeys(mayFetch: true))
        #expect(effects8.startsFetch == true)
        let failed = old.fail()
        #expect(failed.answers == [7: .retry])
        #expect(old.machine.snapshot?.isUsable(at: old.now) == true)
    }

    @Test func `failures before the store was created count`() {
        var rules = Self.rules
        rules.priorFailures = 5
        var scene = Scene(rules, random: ConstantGenerator(number: .max))
        #expect(scene.machine.fetchKind == .retry)
        scene.wait(.anyKeys(mayFetch: true))
        scene.fail()
        #expect(scene.machine.consecutiveFailures == 6)
        #expect(scene.machine.nextFetch! - scene.now > .seconds(30))
    }
}
