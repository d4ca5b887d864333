import HTTP
import JOSE
import Keys
import Testing
import TestSupport

/// What happens to a key that the provider's response omits.
@Suite struct OmittedKeysTests {
    @Test func `a key that one answer leaves out serves on, and is marked`() {
        var scene = Scene.ready(KeyRules(), ["a", "b", "c"])
        scene.moveToNextFetch()
        let effects = scene.succeed(["b"])
        #expect(scene.keyIDs == ["b", "a", "c"])
        #expect(scene.omittedKeyIDs == ["a", "c"])
        #expect(scene.machine.snapshot?.hasKey("c") == true)
        // The usable keys are the same.
        #expect(effects.reports == [.fetched])
    }

    @Test func `the second whole answer in a row drops it`() {
        var scene = Scene.omitting()
        let effects = scene.refresh(["a"])
        #expect(scene.keyIDs == ["a"])
        #expect(scene.omittedKeyIDs == [])
        #expect(effects.reports == [.keysChanged(keyIDs: ["a"]), .fetched])
    }

    @Test func `an answer to a request for an unknown key counts as one`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        for id in 1...2 {
            #expect(scene.keyIDs == ["a", "b"])
            scene.wait(.key("x"), id: id)
            scene.succeed(["a"])
            scene.moveTo(Double(id) * 30)
        }
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `keys are counted one by one`() {
        var scene = Scene.ready(KeyRules(), ["a", "b", "c"])
        scene.refresh(["a", "b"])
        #expect(scene.omittedKeyIDs == ["c"])
        scene.refresh(["a"])
        #expect(scene.omittedKeyIDs == ["b"])
        scene.refresh(["c"])
        #expect(scene.keyIDs == ["c", "a"])
        #expect(scene.omittedKeyIDs == ["a"])
    }

    @Test func `a fetch that fails is no answer`() {
        var scene = Scene.omitting()
        for _ in 0..<5 {
            scene.moveToNextFetch()
            scene.fail()
            #expect(scene.keyIDs == ["a", "b"])
            #expect(scene.omittedKeyIDs == ["b"])
        }
    }

    @Test func `the word that nothing has changed settles nothing`() {
        var scene = Scene.omitting()
        for _ in 0..<3 {
            let effects = scene.refresh(["a"], isNotModified: true)
            #expect(scene.keyIDs == ["a", "b"])
            #expect(scene.omittedKeyIDs == ["b"])
            #expect(effects.reports == [.fetched])
        }
        scene.refresh(["a"])
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `a key that is back counts anew`() {
        var scene = Scene.omitting()
        scene.refresh(["b", "a"])
        #expect(scene.keyIDs == ["b", "a"])
        #expect(scene.omittedKeyIDs == [])
        scene.refresh(["a"])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == ["b"])
    }

    // MARK: Dropped after an hour

    @Test func `without a second answer the timer drops it after an hour`() throws {
        var scene = Scene.omitting()
        scene.moveToNextFetch()
        let before = try #require(scene.machine.snapshot)
        scene.moveTo(225 + 3599.999)
        #expect(!scene.fireTimer().publishes)
        #expect(scene.keyIDs == ["a", "b"])
        scene.moveTo(225 + 3600)
        let effects = scene.fireTimer()
        #expect(scene.keyIDs == ["a"])
        #expect(effects.reports == [.keysChanged(keyIDs: ["a"])])
        let after = try #require(scene.machine.snapshot)
        #expect(after.version == before.version + 1)
        #expect(after.fetchedAt == before.fetchedAt)
        #expect(after.freshUntil == before.freshUntil)
        #expect(after.usableUntil == before.usableUntil)
        #expect(!scene.fireTimer().publishes)
    }

    @Test func `the timer is set for the end of its hour`() {
        var scene = Scene.omitting(lifetime: .seconds(86400))
        #expect(scene.moveToNextFetch().timer == Scene.at(225 + 3600))
    }

    @Test func `confirmations and failures don't prolong the hour`() {
        var scene = Scene.omitting(lifetime: .seconds(86400))
        scene.refresh(["a"], lifetime: .seconds(86400), isNotModified: true)
        scene.moveToNextFetch()
        scene.fail()
        scene.moveTo(225 + 3600)
        scene.fireTimer()
        #expect(scene.keyIDs == ["a"])
    }

    // MARK: Operators

    @Test func `what an operator's refresh does not find is gone at once`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        let effects = scene.succeed(["a"])
        #expect(scene.keyIDs == ["a"])
        #expect(effects.reports == [.keysChanged(keyIDs: ["a"]), .fetched])
        #expect(effects.kept == ["a"])
    }

    @Test func `an operator's refresh drops what had been left out before`() {
        var scene = Scene.omitting()
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `an operator who comes while a fetch is under way has the next one be strict`() {
        var scene = Scene.ready(KeyRules(), ["a", "b", "c"])
        scene.moveToNextFetch()
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        #expect(scene.succeed(["a", "b"]).fetchMode == .reload)
        #expect(scene.omittedKeyIDs == ["c"])
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `an operator's refresh that fails drops nothing`() {
        var scene = Scene.omitting()
        scene.wait(.refresh(dropsOmitted: true), id: 1)
        scene.fail()
        #expect(scene.omittedKeyIDs == ["b"])
        // Nor is the next fetch strict.
        scene.refresh(["b"])
        #expect(scene.keyIDs == ["b", "a"])
        #expect(scene.omittedKeyIDs == ["a"])
    }

    // MARK: Which keys count as omitted

    private static func refreshed(from first: [JSONTree], to second: [JSONTree]) -> Scene {
        var scene = Scene()
        scene.start()
        scene.succeed(KeySets.fetched(first))
        scene.moveToNextFetch()
        scene.succeed(KeySets.fetched(second))
        return scene
    }

    @Test func `a key whose kid another has taken is gone at once`() throws {
        let scene = Self.refreshed(
            from: [KeySets.key("a"), KeySets.key("b")], to: [KeySets.key("a"), KeySets.key("b", .otherP256)])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == [])
        let keys = try #require(scene.machine.snapshot).keys.keys
        #expect(keys[0].thumbprint != keys[1].thumbprint)
    }

    @Test func `a key that another takes the place of later is gone then`() {
        var scene = Scene.omitting()
        scene.moveToNextFetch()
        scene.succeed(KeySets.fetched([KeySets.key("a"), KeySets.key("b", .otherP256)]))
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == [])
    }

    @Test func `keys without a kid are told apart by what they are`() throws {
        let scene = Self.refreshed(
            from: [KeySets.key(nil, .p256), KeySets.key(nil, .rsa), KeySets.key("a", .p256)],
            to: [KeySets.key(nil, .p256), KeySets.key("b", .rsa)])
        let snapshot = try #require(scene.machine.snapshot)
        #expect(snapshot.keys.keys.map(\.keyID) == [nil, "b", nil, "a"])
        #expect(snapshot.keys.keys.map(\.keyType) == ["EC", "RSA", "RSA", "EC"])
        #expect(scene.omittedKeyIDs == [nil, "a"])
    }

    @Test func `a kid that differs only in Unicode form is another one`() {
        let scene = Self.refreshed(
            from: [KeySets.key("caf\u{e9}"), KeySets.key("a")], to: [KeySets.key("cafe\u{301}")])
        #expect(scene.omittedKeyIDs == ["caf\u{e9}", "a"])
        #expect(scene.machine.snapshot?.keys.keys.count == 3)
    }

    @Test func `a key under a kid that several have is omitted, not replaced, where only the others are left`() {
        let scene = Self.refreshed(
            from: [KeySets.key("a", .p256), KeySets.key("a", .rsa)], to: [KeySets.key("a", .rsa)])
        #expect(scene.omittedKeyIDs == ["a"])
        #expect(scene.machine.snapshot?.keys.keys.map(\.keyType) == ["RSA", "EC"])
    }

    @Test func `a new key beside others of its kid takes the place of those that are gone`() {
        let scene = Self.refreshed(
            from: [KeySets.key("a", .p256), KeySets.key("a", .rsa)],
            to: [KeySets.key("a", .rsa), KeySets.key("a", .otherP256)])
        #expect(scene.omittedKeyIDs == [])
    }

    @Test func `a garbled key takes the place of none, and one that is withdrawn is gone`() {
        let garbled = TestKey.otherP256.jwk(["kid": .string("b"), "y": .string("AAAA")])
        let forEncryption = TestKey.otherP256.jwk(["kid": .string("b"), "use": .string("enc")])
        for thin in [garbled, forEncryption] {
            let scene = Self.refreshed(from: [KeySets.key("a"), KeySets.key("b")], to: [KeySets.key("a"), thin])
            #expect(scene.keyIDs == ["a", "b", "b"])
            #expect(scene.omittedKeyIDs == ["b"])
        }
        let withdrawn = TestKey.p256.jwk(["kid": .string("b"), "use": .string("enc")])
        let scene = Self.refreshed(from: [KeySets.key("a"), KeySets.key("b")], to: [KeySets.key("a"), withdrawn])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == [])
        #expect(scene.machine.snapshot?.keys.keys.map(\.isUsable) == [true, false])
    }

    @Test func `a key that could not verify is no loss`() {
        let encryption = TestKey.rsa.jwk(["kid": .string("e"), "use": .string("enc")])
        let scene = Self.refreshed(from: [KeySets.key("a"), encryption], to: [KeySets.key("a")])
        #expect(scene.keyIDs == ["a"])
        #expect(scene.omittedKeyIDs == [])
    }

    @Test func `keys that nobody could use any more are not missed`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.moveTo(300 + Scene.day + 0.001)
        scene.fireTimer()
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a"])
    }

    @Test func `stale ones are`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.moveTo(300 + Scene.day)
        scene.fireTimer()
        scene.succeed(["a"])
        #expect(scene.keyIDs == ["a", "b"])
        #expect(scene.omittedKeyIDs == ["b"])
    }

    @Test func `keys from the disk are missed, and keys of a fallback are not`() {
        var restored = Scene()
        restored.restore(["a", "b"], age: .seconds(60))
        restored.start()
        restored.succeed(["a"])
        #expect(restored.keyIDs == ["a", "b"])
        #expect(restored.omittedKeyIDs == ["b"])

        var rules = KeyRules()
        rules.hasFallback = true
        var fallenBack = Scene(rules)
        fallenBack.start()
        fallenBack.fallBack(["a", "b"])
        fallenBack.succeed(["a"])
        #expect(fallenBack.keyIDs == ["a"])
    }

    @Test func `a file says what it means, the first time`() {
        var scene = Scene(.file)
        scene.start()
        scene.succeed(KeySets.fetched(["a", "b"], source: .file))
        scene.moveToNextFetch()
        let effects = scene.succeed(KeySets.fetched(["a"], source: .file))
        #expect(scene.keyIDs == ["a"])
        #expect(effects.reports == [.keysChanged(keyIDs: ["a"]), .fetched])
    }
}
