private import Bytes

/// Makes ids for requests. Confined to one event loop.
package struct RequestIDs {
    /// Ids need to differ, not to be unguessable.
    private var numbers = SplitMix64(seed: .random(in: .min ... .max))

    package init() {}

    /// A new id of 32 hexadecimal digits.
    package mutating func makeID() -> String { String(hexadecimal: numbers.next(), numbers.next()) }
}
