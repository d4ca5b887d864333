/// The octets that hexadecimal text stands for; white space in it is passed over.
package func octets(hex text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    precondition(digits.count.isMultiple(of: 2), "half an octet in \(text)")
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

package func hex(_ octets: some Sequence<UInt8>) -> String {
    octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

package func text(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }

extension [UInt8] {
    /// The same octets with one bit turned over.
    package func flippingBit(_ bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
