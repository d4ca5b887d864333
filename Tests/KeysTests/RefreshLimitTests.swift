import HTTP
import Keys
import Testing

/// How often operators may trigger a refresh, and what happens to keys that it does not find.
@Suite struct RefreshLimitTests {
    private static let refresh = Machine.FetchReason.refresh(dropsOmitted: false)

    @Test func `a refresh within a second of another waits for the next one, and all of them share it`() {
        var scene = Scene.ready()
        #expect(scene.wait(Self.refresh, id: 1).startsFetch)
        scene.moveTo(0.2)
        #expect(scene.succeed().answers == [1: .refreshed])
        for id in 2...5 {
            let asked = scene.wait(Self.refresh, id: id)
            #expect(asked == [.setTimer(Scene.at(1))])
        }
        scene.moveTo(0.999)
        #expect(scene.fireTimer() == [.setTimer(Scene.at(1))])
        scene.moveTo(1)
        #expect(scene.fireTimer().fetchMode == .reload)
        #expect(scene.succeed().answers == [2: .refreshed, 3: .refreshed, 4: .refreshed, 5: .refreshed])
        scene.moveTo(2)
        #expect(scene.wait(Self.refresh, id: 6).startsFetch)
    }

    @Test func `a loop of refreshes causes one fetch a second, also when all of them fail`() {
        var scene = Scene.ready()
        var fetches = 0
        for tenth in 0..<100 {
            scene.moveTo(Double(tenth) / 10)
            for effects in [scene.fireTimer(), scene.wait(Self.refresh, id: tenth)] where effects.startsFetch {
                fetches += 1
                #expect(!scene.fail().startsFetch)
            }
        }
        #expect(fetches == 10)
    }

    @Test func `an unknown key is looked for while an operator has to wait`() {
        var scene = Scene.ready()
        scene.wait(Self.refresh, id: 1)
        scene.succeed()
        scene.wait(Self.refresh, id: 2)
        scene.moveTo(0.5)
        #expect(scene.wait(.key("b"), id: 3).startsFetch)
        // This fetch started after the operator's request, but for another reason: the operator gets one of their own.
        #expect(scene.succeed().answers == [3: .refreshed])
        scene.moveTo(1)
        #expect(scene.fireTimer().startsFetch)
        #expect(scene.succeed().answers == [2: .refreshed])
    }

    @Test func `an operator who waits gives up at the deadline`() {
        var scene = Scene.ready()
        scene.wait(Self.refresh, id: 1)
        scene.succeed()
        _ = scene.machine.wait(
            for: Self.refresh, judgedBy: 0, id: 2, until: scene.now + Interval(milliseconds: 300), now: scene.now)
        scene.moveTo(0.3)
        #expect(scene.fireTimer().answers == [2: unavailable(1000)])
        scene.moveTo(1)
        #expect(!scene.fireTimer().startsFetch)
    }

    @Test func `a refresh leaves a key omitted that one answer does not have, and drops it where that is asked for`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.wait(Self.refresh, id: 1)
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == ["b"])
        scene.moveTo(1)
        scene.wait(.refresh(dropsOmitted: true), id: 2)
        scene.succeed(["c"])
        #expect(scene.keyIDs == ["c"])
    }

    @Test func `of two answers to refreshes that leave a key out, the second drops it`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        for second in 0..<2 {
            scene.moveTo(Double(second))
            scene.wait(Self.refresh, id: second)
            scene.succeed(["a"])
        }
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `one operator who wants keys dropped is enough for a fetch that several share`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.wait(Self.refresh, id: 1)
        scene.wait(Self.refresh, id: 2)
        scene.wait(.refresh(dropsOmitted: true), id: 3)
        scene.succeed(["a", "b"])
        scene.moveTo(1)
        #expect(scene.fireTimer().startsFetch)
        #expect(scene.succeed(["a"]).answers == [2: .refreshed, 3: .refreshed])
        #expect(scene.keyIDs == ["a"])
    }
}
