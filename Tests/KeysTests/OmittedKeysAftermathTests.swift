import HTTP
import JOSE
import Keys
import Testing

/// Consequences of an omitted key: what is archived, what a restart restores, and when the omission is settled.
@Suite struct OmittedKeysAftermathTests {
    @Test func `what serves is kept on disk, so that a restart loses neither old keys nor new ones`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        #expect(scene.refresh(["c"]).kept == ["c", "a", "b"])
        #expect(scene.refresh(["c"], isNotModified: true).kept == ["c", "a", "b"])
        #expect(scene.refresh(["c", "a"]).kept == ["c", "a"])
        #expect(scene.refresh(["c", "a"], isNotModified: true).kept == ["c", "a"])
    }

    @Test func `on disk they are told apart`() throws {
        var machine = Scene.ready(KeyRules(), ["a", "b"]).machine
        let kept = machine.fetchSucceeded(KeySets.fetched(["c"]), now: Scene.at(1)).compactMap { effect in
            if case .keep(let keys, let omitted, _) = effect { (keys, omitted) } else { nil }
        }
        let (keys, omitted) = try #require(kept.first)
        #expect(kept.count == 1)
        #expect(keys.keys.keys.map(\.keyID) == ["c"])
        #expect(keys.text == KeySets.json(["c"]))
        #expect(omitted.map(\.keyID) == ["a", "b"])
    }

    @Test func `they serve on after a restart, for the rest of their hour`() {
        var scene = Scene()
        let effects = scene.restore(["a"], omitted: ["b"], age: .seconds(3000))
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == ["b"])
        #expect(effects.timer == Scene.at(600))
        scene.start()
        scene.moveTo(599.999)
        scene.fireTimer()
        #expect(scene.omittedKeyIDs == ["b"])
        scene.moveTo(600)
        scene.fireTimer()
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `the first whole answer after a restart is the second in a row`() {
        var scene = Scene()
        scene.restore(["a", "c"], omitted: ["b"], age: .seconds(60))
        scene.start()
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a", "c"])
        #expect(scene.omittedKeyIDs == ["c"])
        var other = Scene()
        other.restore(["a"], omitted: ["b"], age: .seconds(60))
        other.start()
        other.succeed(["b"])
        #expect(other.keyIDs == ["b", "a"])
    }

    @Test(arguments: [(3599.0, true), (3600, false), (7200, false)])
    func `those whose hour was over at the restart are gone`(age: Double, serves: Bool) {
        var scene = Scene()
        scene.restore(["a"], omitted: ["b"], age: .seconds(Int64(age)))
        #expect(scene.keyIDs == (serves ? ["a", "b"] : ["a"]))
    }

    @Test func `those of a set that is too old are not taken either`() {
        var rules = KeyRules()
        rules.staleIfError = .seconds(0)
        var scene = Scene(rules)
        #expect(scene.restore(["a"], omitted: ["b"], age: .seconds(301)) == [])
        scene.start()
        scene.succeed(["c"])
        #expect(scene.keyIDs == ["c"])
        #expect(scene.machine.nextFetch == Scene.at(225))
    }

    /// Disks may be slow. What was archived after an earlier answer must not cast doubt on a later one.
    @Test func `a key that was kept as omitted and is confirmed is not lost to one thin answer`() {
        var rules = KeyRules()
        rules.hasFallback = true
        rules.staleIfError = .seconds(0)
        var scene = Scene.ready(rules, ["a", "b"])
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
        scene.moveTo(300.001)
        scene.fireTimer()
        scene.fallBack(["f"])
        scene.restore(["a"], omitted: ["b"], age: .seconds(60))
        scene.succeed(["a", "b"], isNotModified: true)
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == [])
        scene.refresh(["a"])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == ["b"])
    }

    @Test func `it is settled soon, and by a whole answer`() {
        var scene = Scene.omitting(lifetime: .seconds(86400))
        #expect(scene.machine.nextFetch == Scene.at(225 + 225))
        #expect(scene.moveToNextFetch().fetchMode == .reload)
        scene.fail()
        #expect(scene.moveToNextFetch().fetchMode == .reload)
        scene.succeed(["a"], lifetime: .seconds(86400))
        #expect(scene.machine.nextFetch == scene.now + .seconds(64800))
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
    }

    @Test func `after its hour there is nothing more to settle`() {
        var scene = Scene.omitting(lifetime: .seconds(86400))
        scene.moveToNextFetch()
        scene.fail()
        scene.moveToNextFetch()
        scene.moveTo(225 + 3600)
        scene.fireTimer()
        #expect(scene.succeed(["a"], lifetime: .seconds(86400)).reports == [.fetched, .recovered])
        #expect(scene.machine.nextFetch == scene.now + .seconds(64800))
    }

    @Test func `the new keys' lifetime is what it says, whatever was left out`() throws {
        let scene = Scene.omitting(lifetime: .seconds(86400))
        #expect(try #require(scene.machine.snapshot).freshUntil == Scene.at(225 + 86400))
    }
}
