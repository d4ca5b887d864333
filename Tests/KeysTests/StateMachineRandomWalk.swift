import Bytes
private import class Foundation.ProcessInfo
import Testing
import TestSupport

/// Invariants that must hold for any sequence of events. A failure reports the seed; set `ASSAY_WALK_SEED` to it to
/// repeat the walk.
@Suite struct StateMachineRandomWalk {
    @Test func `the invariants hold on a long random walk`() throws {
        let seed =
            ProcessInfo.processInfo.environment["ASSAY_WALK_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("random walk of the key store's state machine: ASSAY_WALK_SEED=\(seed)")
        // Several lifetimes, because some invariants concern the start.
        var generator = SplitMix64(seed: seed)
        let sets = WalkKeySets()
        var counter = Walk.EventCounter()
        for life in 0..<40 {
            var walk = Walk(seed: generator.next(), sets)
            for step in 0..<3000 {
                walk.takeStep()
                if let violation = walk.violation {
                    Issue.record("\(violation), at step \(step) of life \(life), ASSAY_WALK_SEED=\(seed)")
                    return
                }
            }
            counter.add(walk.counter)
        }
        #expect(counter.rare == [], "a walk on which too little happens shows nothing: ASSAY_WALK_SEED=\(seed)")
    }
}
