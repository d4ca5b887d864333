import HTTP
import Keys
import Testing
import TestSupport

@Suite struct ChangingStaleIfErrorTests {
    private func change(_ scene: inout Scene, to seconds: Int64) -> [Seen] {
        scene.machine.staleIfErrorChanged(to: .seconds(seconds), now: scene.now).map(Seen.init)
    }

    @Test func `keys at hand serve by the new rule from now on`() throws {
        var scene = Scene.ready()
        scene.moveTo(100)
        let effects = change(&scene, to: 3600)
        #expect(
            effects == [
                .publish(
                    Seen.Published(
                        version: 2, keyIDs: ["a"], fetchedAt: Scene.birth, freshUntil: Scene.at(300),
                        usableUntil: Scene.at(3900))),
                .setTimer(Scene.at(225)),
            ])
    }

    @Test func `so do those that are fetched later`() throws {
        var scene = Scene.ready()
        _ = change(&scene, to: 3600)
        scene.refresh(["a"])
        #expect(try #require(scene.machine.snapshot).usableUntil == Scene.at(225 + 300 + 3600))
    }

    @Test func `keys that are too old by the new rule are unavailable at once`() throws {
        var scene = Scene.ready()
        scene.moveTo(225)
        scene.fireTimer()
        scene.fail()
        scene.moveTo(500)
        scene.fireTimer()
        #expect(try #require(scene.machine.snapshot).isUsable(at: scene.now))
        let effects = change(&scene, to: 0)
        #expect(effects.contains(.report(.stateChanged(.unavailable))))
        #expect(try !#require(scene.machine.snapshot).isUsable(at: scene.now))
    }

    @Test func `keys that a longer rule lets serve again are stale`() throws {
        var rules = KeyRules()
        rules.staleIfError = .seconds(0)
        var scene = Scene.ready(rules)
        scene.moveTo(225)
        scene.fireTimer()
        scene.fail()
        scene.moveTo(301)
        scene.fireTimer()
        let effects = change(&scene, to: 3600)
        #expect(effects.contains(.report(.stateChanged(.stale))))
    }

    @Test func `the same rule is no change`() throws {
        var scene = Scene.ready()
        let effects = change(&scene, to: 86400)
        #expect(effects.isEmpty)
        #expect(try #require(scene.machine.snapshot).version == 1)
    }

    @Test func `without keys there is nothing to do`() {
        var scene = Scene()
        scene.start()
        let effects = change(&scene, to: 0)
        #expect(effects.isEmpty)
    }

    @Test func `the fallback's keys have a time of their own`() throws {
        var rules = KeyRules()
        rules.hasFallback = true
        var scene = Scene(rules)
        scene.start()
        scene.fail()
        _ = scene.machine.fallbackSucceeded(KeySets.fetched(["f"], source: .file), now: scene.now)
        let before = try #require(scene.machine.snapshot)
        let effects = change(&scene, to: 0)
        #expect(effects.isEmpty)
        #expect(try #require(scene.machine.snapshot).usableUntil == before.usableUntil)
    }

    @Test func `a file that is the only source follows the rule`() throws {
        var scene = Scene(.file)
        scene.start()
        scene.succeed(KeySets.fetched(["f"], source: .file))
        _ = change(&scene, to: 10)
        #expect(try #require(scene.machine.snapshot).usableUntil == Scene.at(70))
    }
}
