import HTTP
import JOSE
import Keys
import Testing
import TestSupport

/// A provider without a list of its keys: each key is asked for when a token names it.
@Suite struct KeysByIDTests {
    private static let rules: KeyRules = {
        var rules = KeyRules()
        rules.findsKeysByID = true
        return rules
    }()

    private static func id(_ number: Int) -> String {
        let digits = String(number)
        return "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private static func fetched(_ numbers: [Int]) -> FetchedKeys {
        numbers.isEmpty ? KeySets.fetched(JWKSet.empty, lifetime: nil) : KeySets.fetched(numbers.map(id))
    }

    /// A store that has started: it has no key, and needs none to be ready.
    private static func ready(_ rules: KeyRules = rules) -> Scene {
        var scene = Scene(rules)
        scene.start()
        scene.succeed(fetched([]))
        return scene
    }

    private static func find(_ number: Int, in scene: inout Scene, proving: Bool = true, id waiter: Int = 7) {
        #expect(scene.wait(.key(id(number)), id: waiter).startsFetch, "\(number)")
        let held = Set(scene.machine.soughtKeyIDs)
        scene.succeed(fetched((1...99).filter { held.contains(id($0)) }))
        if proving { _ = scene.machine.proved(id(number), now: scene.now) }
    }

    @Test func `it is ready without a key, and asks for none`() {
        let scene = Self.ready()
        #expect(scene.machine.soughtKeyIDs == [])
        #expect(KeyState(scene.machine.snapshot, at: scene.now) == .ready)
    }

    @Test func `a key that a token names is asked for, and kept once it has verified a token`() {
        var scene = Self.ready()
        #expect(scene.wait(.key(Self.id(1)), id: 1).startsFetch)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        let found = scene.succeed(Self.fetched([1]))
        #expect(found.answers == [1: .refreshed])
        #expect(!found.contains { if case .keep = $0 { true } else { false } })
        #expect(scene.machine.snapshot?.isUnproven(Self.id(1)) == true)
        let proven = scene.machine.proved(Self.id(1), now: scene.now).map(Seen.init)
        #expect(proven.contains(.keep([Self.id(1)], lifetime: .seconds(300))))
        #expect(scene.machine.snapshot?.isUnproven(Self.id(1)) == false)
        #expect(scene.machine.snapshot?.version == 3)
        #expect(scene.machine.proved(Self.id(1), now: scene.now).isEmpty)
        #expect(scene.machine.proved(Self.id(2), now: scene.now).isEmpty)
    }

    @Test func `a key that is not there is no key, and is not asked for again for a while`() {
        var scene = Self.ready()
        scene.wait(.key(Self.id(1)), id: 1)
        #expect(scene.succeed(Self.fetched([])).answers == [1: .refreshed])
        #expect(scene.machine.soughtKeyIDs == [])
        scene.moveTo(29)
        #expect(scene.wait(.key(Self.id(1)), id: 2) == [.resume(2, .unchanged)])
        scene.moveTo(30)
        #expect(scene.wait(.key(Self.id(1)), id: 3).startsFetch)
    }

    @Test func `a made-up key whose address fails is not asked for again, and proven ones are`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        #expect(scene.wait(.key(Self.id(2)), id: 2).startsFetch)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1), Self.id(2)])
        scene.fail()
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        scene.moveToNextFetch()
        scene.succeed(Self.fetched([1]))
        #expect(scene.machine.snapshot?.hasKey(Self.id(1)) == true)
    }

    @Test func `beyond the budget a token is worth another try, since its key may exist`() {
        var scene = Self.ready()
        for number in 1...2 { Self.find(number, in: &scene, proving: false) }
        scene.moveTo(10)
        #expect(
            scene.wait(.key(Self.id(3)), id: 3)
                == [.report(.tokenFetchRefused), .resume(3, .unavailable(retryAfter: .seconds(20)))])
        scene.moveTo(30)
        #expect(scene.wait(.key(Self.id(3)), id: 4).startsFetch)
    }

    @Test func `keys that tokens name during a fetch, or beyond the budget, are all asked for by the next one`() {
        var scene = Self.ready()
        #expect(scene.wait(.key(Self.id(1)), id: 1).startsFetch)
        for number in 2...4 { #expect(!scene.wait(.key(Self.id(number)), id: number).startsFetch) }
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        #expect(scene.succeed(Self.fetched([1])).answers == [1: .refreshed, 2: .retry, 3: .retry, 4: .retry])
        #expect(scene.wait(.key(Self.id(2)), id: 2).startsFetch)
        #expect(scene.machine.soughtKeyIDs == (1...4).map(Self.id))
        scene.succeed(Self.fetched([1, 4]))
        #expect(scene.machine.snapshot?.hasKey(Self.id(4)) == true)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1), Self.id(4)])
        // The budget is used up now.
        for number in 5...6 { #expect(!scene.wait(.key(Self.id(number)), id: number).startsFetch) }
        scene.moveTo(30)
        #expect(scene.wait(.key(Self.id(7)), id: 7).startsFetch)
        #expect(scene.machine.soughtKeyIDs == [1, 4, 5, 6, 7].map(Self.id))
    }

    @Test func `a few made-up keys don't delay a new one, and the first to be named are asked for`() {
        var scene = Self.ready()
        for number in 100..<102 {
            #expect(scene.wait(.key(Self.id(number)), id: number).startsFetch)
            scene.succeed(Self.fetched([]))
        }
        for number in [102, 103, 1, 104, 105, 106] { scene.wait(.key(Self.id(number)), id: number) }
        scene.moveTo(30)
        #expect(scene.wait(.key(Self.id(107)), id: 107).startsFetch)
        #expect(scene.machine.soughtKeyIDs == [102, 103, 1, 104].map(Self.id))
        scene.succeed(Self.fetched([1]))
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
    }

    @Test func `a flood of made-up keys causes two fetches in thirty seconds, and leaves no trace`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        var fetches = 0
        for number in 100..<1100 {
            scene.moveTo(30 + Double(number - 100) * 0.06)
            if scene.wait(.key(Self.id(number))).startsFetch {
                fetches += 1
                scene.succeed(Self.fetched([1]))
            }
        }
        #expect(fetches == 4)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        #expect(scene.machine.snapshot?.keyIDs == [Self.id(1)])
    }

    /// Anyone can name the key of somebody else's load balancer.
    @Test func `other people's keys never push out one that has verified a token`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        for number in 2...30 {
            scene.moveTo(Double(number) * 30)
            Self.find(number, in: &scene, proving: false)
            #expect(scene.machine.soughtKeyIDs.contains(Self.id(1)))
            #expect(scene.machine.soughtKeyIDs.count <= 5)
        }
        #expect(scene.machine.snapshot?.hasKey(Self.id(1)) == true)
        #expect((scene.machine.snapshot?.keyIDs.count ?? 0) <= 8)
    }

    @Test func `the last eight keys that have verified tokens are kept`() {
        var scene = Self.ready()
        for number in 1...9 {
            scene.moveTo(Double(number) * 30)
            Self.find(number, in: &scene)
        }
        #expect(scene.machine.soughtKeyIDs == (2...9).map(Self.id))
    }

    @Test func `a planned fetch asks for every key again, and one that is gone twice is dropped`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        scene.moveToNextFetch()
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        scene.succeed(Self.fetched([]))
        #expect(scene.machine.snapshot?.hasKey(Self.id(1)) == true)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1)])
        scene.moveToNextFetch()
        scene.succeed(Self.fetched([]))
        #expect(scene.machine.snapshot?.hasKey(Self.id(1)) == false)
        #expect(scene.machine.soughtKeyIDs == [])
    }

    @Test func `a bad signature causes no fetch, since a kid stands for one key for good`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        scene.moveTo(100)
        #expect(scene.wait(.replacedKey(Self.id(1)), id: 2) == [.resume(2, .unchanged)])
    }

    @Test func `if the server is down, a known key serves and a new one is worth another try`() {
        var scene = Self.ready()
        Self.find(1, in: &scene)
        scene.wait(.key(Self.id(2)), id: 2)
        #expect(scene.fail().answers == [2: unavailable(500)])
        #expect(scene.machine.snapshot?.hasKey(Self.id(1)) == true)
        #expect(KeyState(scene.machine.snapshot, at: scene.now) == .ready)
    }

    @Test func `a request that waited for any keys looks for its own then`() {
        var scene = Scene(Self.rules)
        let begun = scene.wait(.anyKeys(mayFetch: true), id: 1)
        #expect(begun.startsFetch)
        #expect(scene.succeed(Self.fetched([])).answers == [1: .retry])
    }

    @Test func `restored keys had verified tokens`() {
        var scene = Scene(Self.rules)
        _ = scene.machine.restored(Self.fetched([1, 2]), age: .seconds(60), now: scene.now)
        #expect(scene.machine.soughtKeyIDs == [Self.id(1), Self.id(2)])
        #expect(scene.machine.snapshot?.isUnproven(Self.id(1)) == false)
    }

    @Test func `a store with a list asks for no key by its kid`() {
        var scene = Scene.ready()
        #expect(scene.wait(.key("b")).startsFetch)
        #expect(scene.machine.soughtKeyIDs == [])
        #expect(scene.machine.proved("a", now: scene.now).isEmpty)
    }

    private func unavailable(_ milliseconds: Int64) -> Machine.Outcome {
        .unavailable(retryAfter: Interval(milliseconds: milliseconds))
    }
}
