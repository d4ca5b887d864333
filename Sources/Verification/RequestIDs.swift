/// Makes ids for requests. Confined to one event loop.
package struct RequestIDs {
    /// SplitMix64: ids need to differ, not to be unguessable.
    private var state = UInt64.random(in: .min ... .max)

    package init() {}

    /// A new id of 32 hexadecimal digits.
    package mutating func makeID() -> String {
        let (high, low) = (next(), next())
        return unsafe String(unsafeUninitializedCapacity: 32) { digits in
            for index in 0..<32 {
                let nibble = (index < 16 ? high : low) >> UInt64(60 - index % 16 * 4) & 15
                unsafe digits[index] = UInt8(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
            }
            return 32
        }
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
