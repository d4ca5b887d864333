import Bytes
import HTTP
import Keys
import Testing
import TestSupport

@Suite struct StateMachineRulesTests {
    // MARK: Lifetimes

    @Test(
        arguments: [
            (nil, 300), (0, 300), (299, 300), (300, 300), (301, 301), (3600, 3600), (86400, 86400), (86401, 86400),
            (1 << 31, 86400),
        ] as [(Int64?, Double)])
    func `a lifetime is kept between five minutes and a day`(said: Int64?, kept: Double) throws {
        var scene = Scene()
        scene.start()
        scene.succeed(lifetime: said.map(Interval.seconds))
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.freshUntil == Scene.at(kept))
        #expect(snapshot.usableUntil == Scene.at(kept + 86400))
        #expect(scene.machine.nextFetch == Scene.at(kept * 0.75))
    }

    @Test func `a snapshot turns stale and unusable right after its bounds`() throws {
        let snapshot = try #require(Scene.ready().machine.snapshot)
        let millisecond = Interval(milliseconds: 1)
        #expect(!snapshot.isStale(at: Scene.at(300)))
        #expect(snapshot.isStale(at: Scene.at(300) + millisecond))
        #expect(snapshot.isUsable(at: Scene.at(300 + 86400)))
        #expect(!snapshot.isUsable(at: Scene.at(300 + 86400) + millisecond))
        #expect(snapshot.hasKey("a"))
        #expect(!snapshot.hasKey("A"))
    }

    @Test func `refreshes are spread over 75 to 90 per cent of the lifetime`() throws {
        var fractions: [Double] = []
        for seed in 0..<200 as Range<UInt64> {
            let next = try #require(Scene.ready(random: SplitMix64(seed: seed)).machine.nextFetch)
            fractions.append(Double((next - Scene.birth).milliseconds) / 300_000)
        }
        #expect(fractions.allSatisfy { (0.75..<0.9).contains($0) })
        #expect(try #require(fractions.min()) < 0.77)
        #expect(try #require(fractions.max()) > 0.88)
    }

    // MARK: Failures

    @Test func `a failure leaves the keys as they are`() throws {
        var scene = Scene.ready()
        scene.moveTo(225)
        scene.fireTimer()
        scene.moveTo(230)
        scene.fail()
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.keyIDs == ["a"])
        #expect(snapshot.fetchedAt == Scene.birth)
        #expect(snapshot.freshUntil == Scene.at(300))
        #expect(scene.machine.lastFailure == Scene.failure)
        scene.moveTo(231)
        scene.fireTimer()
        scene.succeed()
        #expect(scene.machine.lastFailure == nil)
    }

    @Test func `pauses double with every failure up to five minutes, and begin anew after a success`() {
        var scene = Scene(random: ConstantGenerator.middle)
        scene.start()
        func pauses(_ count: Int) -> [Int64] {
            (0..<count).map { _ in
                scene.fail()
                let pause = (scene.machine.nextFetch! - scene.now).milliseconds
                scene.now = scene.machine.nextFetch!
                scene.fireTimer()
                return pause
            }
        }
        let rising: [Int64] = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 150_000, 150_000]
        #expect(pauses(11) == rising)
        // Far beyond the point where doubling would overflow.
        #expect(pauses(100) == [Int64](repeating: 150_000, count: 100))
        scene.succeed()
        scene.now = scene.machine.nextFetch!
        scene.fireTimer()
        #expect(pauses(3) == [500, 1000, 2000])
    }

    @Test func `a pause is never under half a second`() {
        var scene = Scene(random: ConstantGenerator.lowest)
        scene.start()
        for _ in 0..<20 {
            scene.fail()
            #expect(scene.machine.nextFetch == scene.now + Interval(milliseconds: 500))
            scene.now = scene.machine.nextFetch!
            scene.fireTimer()
        }
    }

    @Test func `a failure answers everyone who waits, with the pause`() {
        var scene = Scene(random: ConstantGenerator.middle)
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.wait(.anyKeys(mayFetch: false), id: 2)
        #expect(scene.fail().answers == [1: unavailable(500), 2: unavailable(500)])
        #expect(scene.fail().answers == [:])
    }

    @Test func `who joined a fetch that failed may ask again, and has one of its own if the budget allows`() {
        var scene = Scene.ready()
        scene.moveToNextFetch()
        scene.wait(.key("b"), id: 1)
        scene.wait(.newerKeys, id: 2)
        #expect(scene.fail().answers == [1: .retry, 2: .retry])
        #expect(scene.wait(.key("b"), id: 3).startsFetch)
        scene.wait(.newerKeys, id: 4)
        #expect(scene.fail().answers == [3: unavailable(500), 4: .retry])
        #expect(scene.wait(.newerKeys, id: 5).startsFetch)
        #expect(scene.fail().answers == [5: unavailable(500)])
        #expect(scene.wait(.newerKeys, id: 6).startsFetch)
        #expect(scene.fail().answers == [6: unavailable(500)])
        #expect(scene.wait(.newerKeys, id: 7).answers == [7: unavailable(500)])
    }

    // MARK: Waiting

    @Test func `waiters are given up at their deadlines and not before`() {
        var scene = Scene()
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.moveTo(2)
        #expect(scene.wait(.anyKeys(mayFetch: true), id: 2) == [.setTimer(Scene.at(5))])
        scene.moveTo(4.999)
        #expect(scene.fireTimer() == [.setTimer(Scene.at(5))])
        scene.moveTo(5)
        #expect(scene.fireTimer() == [.resume(1, unavailable(1000)), .setTimer(Scene.at(7))])
        scene.moveTo(60)
        #expect(scene.fireTimer() == [.resume(2, unavailable(1000))])
        #expect(scene.succeed().answers == [:])
    }

    @Test func `all who waited for the first keys share one fetch`() {
        var scene = Scene()
        scene.start()
        for id in 0..<100 { #expect(!scene.wait(.anyKeys(mayFetch: true), id: id).startsFetch) }
        let effects = scene.succeed()
        #expect(effects.answers.count == 100)
        #expect(effects.answers.values.allSatisfy { $0 == .retry })
        #expect(!effects.startsFetch)
    }

    @Test func `who caused a fetch learns that it is over, who came later only that keys have changed`() {
        var scene = Scene.ready()
        scene.wait(.key("b"), id: 1)
        scene.moveTo(1)
        scene.wait(.key("c"), id: 2)
        scene.wait(.newerKeys, id: 3)
        scene.wait(.refresh(dropsOmitted: true), id: 4)
        let effects = scene.succeed(["a", "b"])
        #expect(effects.answers == [1: .refreshed, 2: .retry, 3: .retry])
        #expect(effects.startsFetch)
        #expect(scene.succeed(["a", "b"]).answers == [4: .refreshed])
    }

    @Test func `who came late and still finds nothing causes one more fetch for all of them`() {
        var scene = Scene.ready()
        scene.wait(.key("b"), id: 1)
        scene.wait(.key("c"), id: 2)
        scene.wait(.key("d"), id: 3)
        scene.succeed()
        #expect(scene.wait(.key("c"), id: 4).startsFetch)
        #expect(!scene.wait(.key("d"), id: 5).startsFetch)
        #expect(scene.succeed(["a", "c", "d"]).answers == [4: .refreshed, 5: .retry])
    }

    @Test func `operators who come late share one fetch of their own, also after a failure`() {
        var scene = Scene()
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        for id in 2...5 { #expect(!scene.wait(.refresh(dropsOmitted: true), id: id).startsFetch) }
        let failed = scene.fail()
        #expect(failed.answers == [1: unavailable(500)])
        #expect(failed.startsFetch)
        #expect(failed.timer == Scene.at(5))
        let succeeded = scene.succeed()
        #expect(succeeded.answers == [2: .refreshed, 3: .refreshed, 4: .refreshed, 5: .refreshed])
        #expect(!succeeded.startsFetch)
    }

    @Test func `an operator's own fetch fails for the operator`() {
        var scene = Scene.ready()
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        let failed = scene.fail()
        #expect(failed.answers == [1: unavailable(500)])
        #expect(!failed.startsFetch)
    }

    @Test func `new keys are published before anybody is told of them`() throws {
        var scene = Scene()
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        let effects = scene.succeed()
        let published = try #require(effects.firstIndex { if case .publish = $0 { true } else { false } })
        let resumed = try #require(effects.firstIndex { if case .resume = $0 { true } else { false } })
        #expect(published < resumed)
    }

    // MARK: Archived keys

    @Test func `kept keys are as old as they are`() throws {
        var scene = Scene()
        scene.restore(["d"], age: .seconds(300))
        let snapshot = try #require(scene.machine.snapshot)
        #expect(!snapshot.isStale(at: scene.now))
        #expect(snapshot.isStale(at: scene.now + Interval(milliseconds: 1)))
        #expect(snapshot.usableUntil == Scene.at(86400))
    }

    @Test func `kept keys that are too old are not taken`() {
        var scene = Scene()
        #expect(scene.restore(["d"], age: .seconds(300 + 86400 + 1)) == [])
        #expect(scene.machine.snapshot == nil)
        #expect(!scene.restore(["d"], age: .seconds(300 + 86400)).isEmpty)
    }

    @Test func `kept keys help those who have none, and leave the others waiting for the fetch`() {
        var scene = Scene()
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        scene.wait(.refresh(dropsOmitted: true), id: 2)
        let effects = scene.restore(["d"], age: .seconds(60))
        #expect(effects.answers == [1: .retry])
        #expect(effects.timer == Scene.at(5))
        #expect(scene.succeed().answers == [:])
        #expect(scene.succeed().answers == [2: .refreshed])
    }

    @Test func `fetched keys take the place of kept ones`() {
        var scene = Scene()
        scene.restore(["a", "b"], age: .seconds(60))
        #expect(scene.machine.snapshot?.source == .disk)
        scene.start()
        let effects = scene.succeed(["a", "b", "c"])
        #expect(effects.reports == [.keysChanged(keyIDs: ["a", "b", "c"]), .fetched])
        #expect(scene.machine.snapshot?.version == 2)
        #expect(scene.machine.snapshot?.source == .network)
        #expect(scene.restore(["d"], age: .seconds(60)) == [])
    }

    // MARK: Reports

    @Test func `keys that stay the same are not reported as changed`() {
        var scene = Scene.ready()
        func refresh(_ keyIDs: [String]) -> [KeyEvent] {
            scene.now = scene.now + .seconds(1)
            scene.wait(.refresh(dropsOmitted: true))
            return scene.succeed(keyIDs).reports
        }
        #expect(refresh(["a"]) == [.fetched])
        #expect(refresh(["a", "b"]) == [.keysChanged(keyIDs: ["a", "b"]), .fetched])
        #expect(refresh(["b"]) == [.keysChanged(keyIDs: ["b"]), .fetched])
        #expect(refresh(["b"]) == [.fetched])
        scene.now = scene.now + .seconds(1)
        scene.wait(.refresh(dropsOmitted: true))
        scene.fail()
        #expect(refresh(["b"]) == [.fetched, .recovered])
    }
}
