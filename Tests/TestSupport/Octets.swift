import Bytes

/// Decodes hexadecimal text, ignoring white space.
package func octets(hex text: String) -> [UInt8] {
    [UInt8](hexadecimal: text.filter { !$0.isWhitespace })!
}

package func hex(_ octets: some Sequence<UInt8>) -> String {
    String(hexadecimal: Array(octets).span)
}

package func text(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }

extension [UInt8] {
    /// A copy with one bit flipped.
    package func flippingBit(_ bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
