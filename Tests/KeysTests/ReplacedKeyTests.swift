import HTTP
import Keys
import Testing

/// The fetches that a bad signature by a known `kid` causes: the provider may have replaced the key.
@Suite struct ReplacedKeyTests {
    @Test func `keys that have just come whole are not fetched again for thirty seconds`() {
        var scene = Scene.ready()
        scene.moveTo(29.999)
        #expect(scene.wait(.replacedKey("a"), id: 1) == [.resume(1, .unchanged)])
        scene.moveTo(30)
        let asked = scene.wait(.replacedKey("a"), id: 2)
        #expect(asked.fetchMode == .reload)
        #expect(asked.reports == [.tokenFetchBegan])
        #expect(scene.succeed().answers == [2: .refreshed])
        scene.moveTo(59.999)
        #expect(scene.wait(.replacedKey("a"), id: 3) == [.resume(3, .unchanged)])
    }

    @Test func `bad signatures don't delay a token with an unknown key, nor the other way round`() {
        for needs: [KeyStore.StateMachine.FetchReason] in [
            [.key("b"), .replacedKey("a")], [.replacedKey("a"), .key("b")], [.newerKeys, .key("b")],
        ] {
            var scene = Scene.ready()
            scene.moveTo(30)
            for id in 1...2 {
                #expect(scene.wait(needs[0], id: id).startsFetch)
                scene.fail()
            }
            #expect(scene.wait(needs[0], id: 3).reports == [.tokenFetchRefused])
            for id in 4...5 {
                #expect(scene.wait(needs[1], id: id).startsFetch)
                scene.fail()
            }
            #expect(scene.wait(needs[1], id: 6).reports == [.tokenFetchRefused])
        }
    }

    @Test func `a token without a kid shares the budget of bad signatures`() {
        var scene = Scene.ready()
        scene.moveTo(30)
        #expect(scene.wait(.newerKeys, id: 1).startsFetch)
        scene.fail()
        #expect(scene.wait(.replacedKey("a"), id: 2).startsFetch)
        scene.fail()
        #expect(scene.wait(.newerKeys, id: 3).reports == [.tokenFetchRefused])
    }

    @Test func `a confirmation is not taken for a whole answer`() {
        var scene = Scene.ready()
        scene.refresh(["a"], isNotModified: true)
        #expect(scene.wait(.replacedKey("a")).startsFetch)
    }

    /// A stale cache may answer a conditional request.
    @Test func `nor is a whole answer to a conditional request`() {
        var scene = Scene.ready()
        #expect(scene.moveToNextFetch().fetchMode == .revalidate)
        scene.succeed()
        #expect(scene.wait(.replacedKey("a")).startsFetch)
    }

    @Test func `a key that the last answer left out is not looked for at once`() {
        var scene = Scene.ready(KeyRules(), ["a", "b"])
        scene.moveTo(30)
        scene.wait(.key("c"), id: 1)
        scene.succeed(["a"])
        #expect(scene.omittedKeyIDs == ["b"])
        #expect(scene.wait(.replacedKey("b"), id: 2) == [.resume(2, .unchanged)])
    }

    @Test func `a kid that is gone by then is not looked for again`() {
        var rules = KeyRules()
        rules.tokenFetches = 100
        var scene = Scene(rules)
        scene.restore(["a"], age: .seconds(60))
        scene.wait(.replacedKey("a"), id: 1)
        // Two consecutive responses replace the archived keys.
        scene.succeed(["b"])
        scene.moveTo(30)
        scene.wait(.replacedKey("a"), id: 2)
        #expect(scene.succeed(["b"]).answers == [2: .refreshed])
        #expect(scene.keyIDs == ["b"])
        #expect(scene.wait(.key("a"), id: 3) == [.resume(3, .unchanged)])
    }

    @Test func `the fallback's keys are no news of the provider's`() {
        var rules = KeyRules()
        rules.hasFallback = true
        rules.staleIfError = .seconds(0)
        var scene = Scene(rules)
        scene.start()
        scene.fail()
        scene.fallBack(["a"])
        #expect(scene.wait(.replacedKey("a")).startsFetch)
    }
}
