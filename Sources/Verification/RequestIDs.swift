private import Bytes

/// Generates request IDs. Confined to one event loop.
package struct RequestIDs {
    /// IDs need to be unique, not unpredictable.
    private var numbers = SplitMix64(seed: .random(in: .min ... .max))

    package init() {}

    /// A new ID of 32 hexadecimal digits.
    package mutating func makeID() -> String { String(hexadecimal: numbers.next(), numbers.next()) }
}
