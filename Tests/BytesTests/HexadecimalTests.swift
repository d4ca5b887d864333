import Bytes
import Testing

@Suite struct HexadecimalTests {
    @Test func `octets are written as two digits each, whatever their number`() {
        let octets = (0...255).map(UInt8.init)
        let digits = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(String(hexadecimal: octets.span) == digits.joined())
        for count in 0...13 {
            for start in [0, 3, 97, 153, 242] {
                let range = start..<(start + count)
                #expect(String(hexadecimal: octets[range].span) == digits[range].joined())
            }
        }
    }

    @Test func `numbers are written with leading zeros`() {
        #expect(String(hexadecimal: 0x0123_4567_89ab_cdef) == "0123456789abcdef")
        #expect(String(hexadecimal: 0) == "0000000000000000")
        #expect(String(hexadecimal: 1, .max) == "0000000000000001ffffffffffffffff")
    }

    @Test(arguments: [("", []), ("00ff", [0, 255]), ("aBCd", [0xab, 0xcd])] as [(String, [UInt8])])
    func `digits are read in either case`(text: String, octets: [UInt8]) {
        #expect([UInt8](hexadecimal: text) == octets)
    }

    @Test(arguments: ["0", "000", "0g", "g0", " 0", "-1", "0x00", "００"])
    func `what is no pair of digits is refused`(text: String) {
        #expect([UInt8](hexadecimal: text) == nil)
    }

    @Test(arguments: [("", ""), ("a%20b%c3%BC", "a bü"), ("+%2B", "++")])
    func `percent-encoded text is decoded`(text: String, decoded: String) {
        #expect(percentDecoded(text).map { String(decoding: $0, as: UTF8.self) } == decoded)
    }

    @Test(arguments: ["%", "a%4", "%g0", "%0g", "% 1"])
    func `a percent sign without two digits is refused`(text: String) { #expect(percentDecoded(text) == nil) }

    /// - Source: the reference implementation, prng.di.unimi.it/splitmix64.c.
    @Test func `SplitMix64 gives the numbers of its reference`() {
        var numbers = SplitMix64(seed: 1_234_567)
        #expect(numbers.next() == 6_457_827_717_110_365_317)
        #expect(numbers.next() == 3_203_168_211_198_807_973)
    }
}
