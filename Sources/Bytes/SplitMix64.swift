/// SplitMix64: fast, reproducible from its seed on every machine, and predictable.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The increment of the state at each step.
    package static let increment: UInt64 = 0x9e37_79b9_7f4a_7c15

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= Self.increment
        return Self.mix(state)
    }

    /// The output for a state.
    package static func mix(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
