import HTTP
import Keys
import Testing

/// The fetches that a token with an unknown key may cause.
@Suite struct UnknownKeyTests {
    @Test(arguments: [true, false])
    func `unknown keys, and likewise bad signatures, cause two fetches in thirty seconds and no third`(isUnknown: Bool)
    {
        var scene = Scene.ready()
        func need(_ keyID: String) -> KeyStore.StateMachine.FetchReason { isUnknown ? .key(keyID) : .newerKeys }
        #expect(scene.wait(need("b"), id: 1).startsFetch)
        scene.succeed()
        scene.moveTo(10)
        #expect(scene.wait(need("b2"), id: 2).startsFetch)
        scene.succeed()
        scene.moveTo(29.999)
        let refused: (Int) -> [Seen] = {
            [.report(.tokenFetchRefused), .resume($0, .unchanged)]
        }
        #expect(scene.wait(need("c"), id: 3) == refused(3))
        #expect(scene.wait(need("c2"), id: 4) == refused(4))
        scene.moveTo(30)
        #expect(scene.wait(need("d"), id: 5).startsFetch)
        scene.succeed()
        #expect(scene.wait(need("e"), id: 6) == refused(6))
        scene.moveTo(40)
        #expect(scene.wait(need("f"), id: 7).startsFetch)
    }

    @Test func `fetches that fail count against the budget too`() {
        var scene = Scene.ready()
        for id in 1...2 {
            #expect(scene.wait(.newerKeys, id: id).startsFetch)
            scene.fail()
        }
        #expect(!scene.wait(.newerKeys, id: 3).startsFetch)
    }

    @Test func `a key that can't be looked for after a failure is no verdict, and worth another try`() {
        var scene = Scene.ready(random: ConstantGenerator.middle)
        for id in 1...2 {
            #expect(scene.wait(.key("b"), id: id).startsFetch)
            scene.moveTo(Double(id))
            #expect(scene.fail().answers == [id: unavailable(500 << (id - 1))])
        }
        // While the planned fetch is far away.
        scene.moveTo(2.25)
        #expect(scene.wait(.key("b"), id: 3).answers == [3: unavailable(750)])
        scene.moveToNextFetch()
        scene.succeed()
        #expect(scene.wait(.key("b"), id: 4).answers == [4: .unchanged])
    }

    @Test func `a kid that was not found is no verdict once a later fetch has failed`() {
        var scene = Scene.ready()
        scene.wait(.key("b"), id: 1)
        scene.succeed()
        #expect(scene.wait(.key("b"), id: 2).answers == [2: .unchanged])
        scene.wait(.newerKeys, id: 3)
        scene.fail(retryAfter: .seconds(200))
        // The budget allows another fetch by then.
        #expect(scene.wait(.key("b"), id: 4).answers == [4: unavailable(30_000)])
    }

    @Test func `after a restart, a key that the disk has not is no verdict until a fetch has succeeded`() {
        var scene = Scene()
        scene.restore(["a"], age: .seconds(60))
        scene.start()
        scene.wait(.key("b"), id: 1)
        #expect(scene.fail().answers == [1: .retry])
        for id in 2...3 {
            #expect(scene.wait(.key("b"), id: id).startsFetch)
            #expect(scene.fail().answers == [id: unavailable(500)])
        }
        #expect(scene.wait(.key("b"), id: 4).answers == [4: unavailable(500)])
    }

    @Test func `joining a fetch spends no budget`() {
        var scene = Scene()
        scene.start()
        for id in 0..<10 { scene.wait(.key("b"), id: id) }
        scene.succeed()
        #expect(scene.wait(.key("b"), id: 11).startsFetch)
        for id in 20..<30 { scene.wait(.key("c"), id: id) }
        scene.succeed()
        #expect(scene.wait(.key("c"), id: 31).startsFetch)
        scene.succeed()
        #expect(!scene.wait(.key("d"), id: 32).startsFetch)
    }

    @Test func `a refused fetch does not touch what is planned`() {
        var scene = Scene.ready()
        for id in 1...2 {
            scene.wait(.newerKeys, id: id)
            scene.succeed()
        }
        let planned = scene.machine.nextFetch
        #expect(scene.wait(.newerKeys, id: 3).timer == nil)
        #expect(scene.machine.nextFetch == planned)
    }

    @Test func `a kid that was not found is not looked for again for thirty seconds`() {
        var rules = KeyRules()
        rules.tokenFetches = 100
        var scene = Scene.ready(rules)
        scene.wait(.key("b"), id: 1)
        scene.succeed()
        scene.moveTo(29.999)
        #expect(scene.wait(.key("b"), id: 2) == [.resume(2, .unchanged)])
        #expect(scene.wait(.key("c"), id: 3).startsFetch)
        scene.succeed()
        scene.moveTo(30)
        #expect(scene.wait(.key("b"), id: 4).startsFetch)
    }

    @Test func `a kid that a fetch may have missed is looked for again at once`() {
        var scene = Scene()
        scene.start()
        scene.wait(.key("b"), id: 1)
        #expect(scene.succeed().answers == [1: .retry])
        #expect(scene.wait(.key("b"), id: 2).startsFetch)
    }

    @Test func `a missing kid that differs only in Unicode form is another one`() {
        var scene = Scene.ready()
        scene.wait(.key("caf\u{e9}"), id: 1)
        scene.succeed()
        #expect(!scene.wait(.key("caf\u{e9}"), id: 2).startsFetch)
        #expect(scene.wait(.key("cafe\u{301}"), id: 3).startsFetch)
    }

    @Test func `only so many missing kids are remembered`() {
        var rules = KeyRules()
        rules.rememberedMissingKeys = 3
        rules.tokenFetches = 100
        var scene = Scene.ready(rules)
        for id in 0..<5 {
            scene.wait(.key("missing \(id)"), id: id)
            scene.succeed()
        }
        let remembered = (0..<5).filter { id in
            var copy = scene
            return !copy.wait(.key("missing \(id)"), id: 10 + id).startsFetch
        }
        #expect(remembered == [0, 1, 2])
    }

    @Test func `an operator's refresh heeds neither budget nor backoff`() {
        var scene = Scene.ready()
        for id in 1...2 {
            scene.wait(.newerKeys, id: id)
            scene.fail()
        }
        #expect(scene.wait(.newerKeys, id: 3).answers.count == 1)
        #expect(scene.wait(.refresh(dropsOmitted: true), id: 4).startsFetch)
        scene.fail()
        scene.moveTo(1)
        #expect(scene.wait(.refresh(dropsOmitted: true), id: 5).startsFetch)
        #expect(scene.succeed().answers == [5: .refreshed])
    }
}
