import HTTP
import Keys
import Testing

/// Which responses a fetch accepts, and when a busy server is tried again.
@Suite struct FetchPlanTests {
    @Test func `what keeps keys fresh may be confirmed, once they have come whole`() {
        var scene = Scene()
        #expect(scene.start().fetchMode == .reload)
        scene.succeed()
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
        scene.succeed()
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
    }

    @Test func `who has no keys at all wants them whole, and kept ones have not come whole`() {
        var scene = Scene()
        #expect(scene.wait(.anyKeys(mayFetch: true)).fetchMode == .reload)
        var restored = Scene()
        restored.restore(["a"], age: .seconds(60))
        #expect(restored.start().fetchMode == .reload)
    }

    /// A server may handle conditional requests incorrectly.
    @Test func `after a failure they are wanted whole`() {
        var scene = Scene.ready()
        scene.moveToNextFetch()
        for _ in 0..<3 {
            scene.fail()
            #expect(scene.moveToNextFetch().fetchMode == .reload)
        }
        scene.succeed()
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
    }

    /// Validators may be wrong.
    @Test func `they are wanted whole once a day, however often they are confirmed`() {
        var scene = Scene()
        scene.start()
        scene.succeed(lifetime: .seconds(40_000))
        // 75 per cent of 40,000 seconds each time.
        for (mode, end) in [(FetchMode.revalidate, 30_000.0), (.revalidate, 60_000), (.reload, 90_000)] {
            #expect(scene.moveToNextFetch().fetchMode == mode)
            #expect(scene.now == Scene.at(end))
            scene.succeed(lifetime: .seconds(40_000), isNotModified: mode == .revalidate)
        }
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
    }

    @Test(arguments: [(86_399.999, FetchMode.revalidate), (86_400, .reload)])
    func `a day is a day`(seconds: Double, mode: FetchMode) {
        var scene = Scene.ready(KeyRules(), lifetime: .seconds(86_400))
        scene.moveTo(seconds)
        #expect(scene.fireTimer().fetchMode == mode)
    }

    @Test(arguments: [Machine.FetchReason.key("b"), .newerKeys, .refresh(dropsOmitted: true)])
    func `who doubts the keys wants all of them anew`(need: Machine.FetchReason) {
        var scene = Scene.ready()
        #expect(scene.wait(need).fetchMode == .reload)
    }

    @Test func `an operator who came too late gets a whole answer too`() {
        for fails in [false, true] {
            var scene = Scene.ready()
            scene.moveToNextFetch()
            scene.wait(.refresh(dropsOmitted: true))
            #expect((fails ? scene.fail() : scene.succeed()).fetchMode == .reload)
        }
    }

    @Test func `the fetches that unknown keys cause are reported, joined ones not`() {
        var scene = Scene.ready()
        #expect(scene.wait(.key("b"), id: 1).reports == [.tokenFetchBegan])
        #expect(scene.wait(.key("c"), id: 2).reports == [])
        scene.succeed()
        #expect(scene.wait(.newerKeys, id: 3).reports == [.tokenFetchBegan])
        scene.succeed()
        scene.wait(.newerKeys, id: 4)
        scene.succeed()
        #expect(scene.wait(.newerKeys, id: 5).reports == [.tokenFetchRefused])
        #expect(scene.wait(.refresh(dropsOmitted: true), id: 6).reports == [])
    }

    // MARK: Busy servers

    @Test(
        arguments: [
            (nil, 0.5), (0, 0.5), (1, 1), (10, 10), (299, 299), (300, 300), (301, 300), (86400, 300), (1 << 31, 300),
        ] as [(Int64?, Double)])
    func `a server is left alone as long as it asks, five minutes at most`(asked: Int64?, pause: Double) {
        var scene = Scene()
        scene.start()
        scene.wait(.anyKeys(mayFetch: true), id: 1)
        let effects = scene.fail(retryAfter: asked.map(Interval.seconds))
        #expect(scene.machine.nextFetch == Scene.at(pause))
        #expect(effects.answers == [1: unavailable(Int64(pause * 1000))])
        #expect(effects.timer == Scene.at(pause))
    }

    @Test func `it is left alone longer where it fails again and again`() {
        var scene = Scene(random: ConstantGenerator.middle)
        scene.start()
        for pause in [2, 2, 2, 4, 8, 16] as [Int64] {
            scene.fail(retryAfter: .seconds(2))
            #expect(scene.machine.nextFetch == scene.now + .seconds(pause))
            scene.moveToNextFetch()
        }
    }

    @Test func `who has no keys does not wait that long, nor make it be asked sooner`() {
        var scene = Scene()
        scene.start()
        scene.fail(retryAfter: .seconds(120))
        scene.moveTo(100)
        #expect(scene.wait(.anyKeys(mayFetch: true)) == [.resume(7, unavailable(20_000))])
        #expect(!scene.fireTimer().startsFetch)
        scene.moveTo(120)
        #expect(scene.fireTimer().startsFetch)
        // It applies to one fetch only.
        scene.fail()
        #expect(scene.machine.nextFetch == Scene.at(120.5))
    }

    @Test func `an operator need not heed it`() {
        var scene = Scene.ready()
        scene.moveToNextFetch()
        scene.fail(retryAfter: .seconds(120))
        #expect(scene.wait(.refresh(dropsOmitted: true), id: 1).startsFetch)
    }

    // MARK: Files

    @Test func `a file is looked at every two seconds, there or not`() throws {
        var scene = Scene(.file, random: ConstantGenerator(number: .max))
        scene.start()
        scene.succeed(KeySets.fetched(["a"], source: .file))
        #expect(scene.machine.nextFetch == Scene.at(2))
        for _ in 0..<20 {
            scene.moveToNextFetch()
            scene.fail()
            #expect(try #require(scene.machine.nextFetch) <= scene.now + .seconds(2))
        }
        scene.moveToNextFetch()
        scene.succeed(KeySets.fetched(["b"], source: .file))
        #expect(scene.machine.nextFetch == scene.now + .seconds(2))
        #expect(scene.keyIDs == ["b"])
    }

    @Test func `a file's keys are stale when it could not be read for a minute`() throws {
        var scene = Scene(.file)
        scene.start()
        scene.succeed(KeySets.fetched(["a"], lifetime: .seconds(3600), source: .file))
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.freshUntil == Scene.at(60))
        #expect(snapshot.usableUntil == Scene.at(60 + Scene.day))
    }
}
