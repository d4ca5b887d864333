import HTTP
import Keys
import Testing

/// Every event in every state, with its effects. The numbers are worked out by hand from `KeyRules`: keys live for five
/// minutes and are refreshed after three quarters of that, and the first backoff is half a second.
@Suite struct StateMachineTableTests {
    enum State: CaseIterable {
        case unborn, firstFetch, ready, refreshing, neverFetched, retrying, freshAndFailing, staleAndFailing, expired

        var isFetching: Bool { [.firstFetch, .refreshing, .retrying].contains(self) }
        var hasUsableKeys: Bool { [.ready, .refreshing, .freshAndFailing, .staleAndFailing].contains(self) }
        var hasKeys: Bool { hasUsableKeys || self == .expired }
        var isInBackoff: Bool { [.neverFetched, .freshAndFailing, .staleAndFailing, .expired].contains(self) }

        /// When the keys turn stale or unusable. This timer is set in every state with usable keys.
        var end: [Seen] {
            switch self {
            case .ready, .refreshing, .freshAndFailing: [.setTimer(Scene.at(300.001))]
            case .staleAndFailing: [.setTimer(Scene.at(300 + Scene.day + 0.001))]
            case .unborn, .firstFetch, .neverFetched, .retrying, .expired: []
            }
        }
    }

    private static func scene(_ state: State) -> Scene {
        var scene = Scene()
        guard state != .unborn else { return scene }
        scene.start()
        switch state {
        case .unborn: break
        case .firstFetch: scene.moveTo(1)
        case .ready:
            scene.succeed()
            scene.moveTo(1)
        case .refreshing:
            scene.succeed()
            scene.moveTo(225)
            scene.fireTimer()
            scene.moveTo(226)
        case .neverFetched:
            scene.fail()
            scene.moveTo(0.1)
        case .retrying:
            scene.fail()
            scene.moveTo(0.5)
            scene.fireTimer()
            scene.moveTo(0.6)
        case .freshAndFailing: refreshInVain(&scene, at: 225)
        case .staleAndFailing: refreshInVain(&scene, at: 301)
        case .expired: refreshInVain(&scene, at: 300 + Scene.day + 1)
        }
        return scene
    }

    private static func refreshInVain(_ scene: inout Scene, at seconds: Double) {
        scene.succeed()
        scene.moveTo(seconds)
        scene.fireTimer()
        scene.fail()
        scene.moveTo(seconds + 0.1)
    }

    private static func published(_ keyIDs: [String], at seconds: Double, version: Int) -> Seen {
        .publish(
            .init(
                version: version, keyIDs: keyIDs, fetchedAt: Scene.at(seconds), freshUntil: Scene.at(seconds + 300),
                usableUntil: Scene.at(seconds + 300 + Scene.day)))
    }

    /// A conditional fetch is enough after a recent full response without failures since.
    private static func plannedMode(_ state: State) -> FetchMode { state == .ready ? .revalidate : .reload }

    /// The effects of a wait that starts a fetch, or joins the one in progress.
    private static func fetches(_ scene: Scene, _ state: State, for need: Machine.FetchReason) -> [Seen] {
        let begun: [Seen] =
            switch need {
            case .anyKeys: [.startFetch(plannedMode(state))]
            case .key, .replacedKey, .newerKeys: [.report(.tokenFetchBegan), .startFetch(.reload)]
            case .refresh: [.startFetch(.reload)]
            }
        return (state.isFetching ? [] : begun) + [.setTimer(scene.now + .seconds(5))]
    }

    @Test(arguments: State.allCases)
    func `start fetches unless a fetch is under way`(state: State) {
        var scene = Self.scene(state)
        #expect(scene.start() == (state.isFetching ? [] : [.startFetch(Self.plannedMode(state))]) + state.end)
    }

    @Test(arguments: State.allCases, [Machine.FetchReason.anyKeys(mayFetch: true), .key("a"), .key("b"), .newerKeys])
    func `a request judged by no keys or older ones is told to look again`(state: State, need: Machine.FetchReason) {
        var scene = Self.scene(state)
        let inBackoff = Seen.resume(7, .unavailable(retryAfter: Interval(milliseconds: 500)))
        let expected: [Seen] =
            state.hasUsableKeys
            ? [.resume(7, .retry)]
            : need == .anyKeys(mayFetch: true) && state.isInBackoff
                ? [inBackoff] : Self.fetches(scene, state, for: need)
        #expect(scene.wait(need, judgedBy: 0) == expected)
    }

    @Test(arguments: State.allCases)
    func `a request that found no usable keys waits, but not for a backoff to end`(state: State) {
        var scene = Self.scene(state)
        let inBackoff = Seen.resume(7, .unavailable(retryAfter: Interval(milliseconds: 500)))
        let need = Machine.FetchReason.anyKeys(mayFetch: true)
        #expect(scene.wait(need) == (state.isInBackoff ? [inBackoff] : Self.fetches(scene, state, for: need)))
    }

    @Test(arguments: State.allCases)
    func `a request that could not pass joins a fetch and causes none`(state: State) {
        var scene = Self.scene(state)
        let pause: Interval =
            switch state {
            case .ready: .seconds(224)
            default: Interval(milliseconds: 500)
            }
        let refused = [Seen.resume(7, .unavailable(retryAfter: pause))]
        let need = Machine.FetchReason.anyKeys(mayFetch: false)
        #expect(scene.wait(need) == (state.isFetching ? Self.fetches(scene, state, for: need) : refused))
    }

    @Test(arguments: State.allCases, [Machine.FetchReason.key("b"), .newerKeys, .refresh(dropsOmitted: false)])
    func `what the newest keys don't hold is fetched, in a backoff too`(state: State, need: Machine.FetchReason) {
        var scene = Self.scene(state)
        #expect(scene.wait(need) == Self.fetches(scene, state, for: need))
    }

    /// The second wait comes shortly after a full response past caches; the others after none, or an older one.
    @Test(arguments: State.allCases)
    func `a replaced key is looked for unless the keys have just come whole`(state: State) {
        var scene = Self.scene(state)
        let expected: [Seen] =
            state == .ready ? [.resume(7, .unchanged)] : Self.fetches(scene, state, for: .replacedKey("a"))
        #expect(scene.wait(.replacedKey("a")) == expected)
    }

    @Test(arguments: State.allCases)
    func `an operator's refresh is never told to look again`(state: State) {
        var scene = Self.scene(state)
        #expect(
            scene.wait(.refresh(dropsOmitted: true), judgedBy: 0)
                == Self.fetches(scene, state, for: .refresh(dropsOmitted: true)))
    }

    @Test func `a fetch that ends well publishes, keeps, reports and plans the next`() {
        var first = Self.scene(.firstFetch)
        #expect(
            first.succeed() == [
                Self.published(["a"], at: 1, version: 1), .report(.keysChanged(keyIDs: ["a"])),
                .keep(["a"], lifetime: .seconds(300)), .report(.fetched), .report(.stateChanged(.ready)),
                .setTimer(Scene.at(226)),
            ])
        var refreshing = Self.scene(.refreshing)
        #expect(
            refreshing.succeed() == [
                Self.published(["a"], at: 226, version: 2), .keep(["a"], lifetime: .seconds(300)), .report(.fetched),
                .setTimer(Scene.at(451)),
            ])
        var retrying = Self.scene(.retrying)
        #expect(
            retrying.succeed() == [
                Self.published(["a"], at: 0.6, version: 1), .report(.keysChanged(keyIDs: ["a"])),
                .keep(["a"], lifetime: .seconds(300)), .report(.fetched), .report(.recovered),
                .report(.stateChanged(.ready)), .setTimer(Scene.at(225.6)),
            ])
    }

    @Test(arguments: [(State.firstFetch, true), (.refreshing, true), (.retrying, false)])
    func `a fetch that fails is reported, the first in a row as such`(state: State, isFirst: Bool) {
        var scene = Self.scene(state)
        let next = scene.now + Interval(milliseconds: 500)
        #expect(scene.fail() == [.report(.fetchFailed(Scene.failure, isFirst: isFirst)), .setTimer(next)])
    }

    @Test(arguments: State.allCases)
    func `a timer that fires before anything is due is set again`(state: State) {
        var scene = Self.scene(state)
        let expected: [Seen] =
            switch state {
            case .unborn, .firstFetch, .refreshing, .retrying: state.end
            case .ready: [.setTimer(Scene.at(225))]
            case .neverFetched: [.setTimer(Scene.at(0.5))]
            case .freshAndFailing: [.setTimer(Scene.at(225.5))]
            case .staleAndFailing: [.setTimer(Scene.at(301.5))]
            case .expired: [.setTimer(Scene.at(300 + Scene.day + 1.5))]
            }
        #expect(scene.fireTimer() == expected)
    }

    @Test(arguments: [State.ready, .neverFetched, .freshAndFailing, .staleAndFailing, .expired])
    func `a timer that fires when the next fetch is due begins it`(state: State) throws {
        var scene = Self.scene(state)
        scene.now = try #require(scene.machine.nextFetch)
        #expect(scene.fireTimer() == [.startFetch(Self.plannedMode(state))] + state.end)
        #expect(scene.machine.nextFetch == nil)
        #expect(scene.fireTimer() == state.end)
    }

    @Test(arguments: State.allCases)
    func `what was kept on disk is taken where there are no keys yet`(state: State) {
        var scene = Self.scene(state)
        let seconds = Double((scene.now - Scene.birth).milliseconds) / 1000
        let taken = [
            Self.published(["d"], at: seconds - 60, version: 1), .report(.keysChanged(keyIDs: ["d"])),
            .report(.stateChanged(.ready)),
            .setTimer(state == .neverFetched ? Scene.at(0.5) : Scene.at(seconds - 60 + 300.001)),
        ]
        #expect(scene.restore(["d"], age: .seconds(60)) == (state.hasKeys ? [] : taken))
        #expect(scene.machine.snapshot?.keyIDs == (state.hasKeys ? ["a"] : ["d"]))
    }
}
