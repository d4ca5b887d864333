import Bytes
import OpenSSL
import Testing
import TestSupport

@Suite struct PrimitivesTests {
    private func equals(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEquals(left.span, right.span) }

    @Test func `octets equal themselves and nothing that differs in one bit`() {
        let octets = (0..<64).map { UInt8($0 * 3) }
        #expect(equals(octets, Array(octets)))
        for bit in 0..<(64 * 8) { #expect(!equals(octets, octets.flippingBit(bit)), "bit \(bit)") }
    }

    @Test func `octets of another length differ`() {
        #expect(equals([], []))
        #expect(!equals([], [0]))
        #expect(!equals([0], []))
        #expect(!equals([1, 2, 3], [1, 2]))
        #expect(!equals([1, 2], [1, 2, 0]))
    }

    @Test func `a digest's digits equal themselves and nothing that differs in one bit`() {
        func equals(_ text: [UInt8], _ digest: [UInt8]) -> Bool {
            constantTimeEquals(text.span, hexadecimalOf: digest.span)
        }
        for start in 0...224 {
            let digest = (start..<(start + 32)).map { UInt8($0) }
            let digits = Array(String(hexadecimal: digest.span).utf8)
            #expect(equals(digits, digest))
            guard start.isMultiple(of: 75) else { continue }
            for bit in 0..<(64 * 8) { #expect(!equals(digits.flippingBit(bit), digest), "bit \(bit)") }
            for count in [0, 32, 63] { #expect(!equals(Array(digits[..<count]), digest)) }
            #expect(!equals(digits + [0x30], digest))
        }
    }

    @Test func `random octets are as many as asked for, and others each time`() throws {
        for count in [0, 1, 16, 1000] { #expect(try randomBytes(count).count == count) }
        #expect(try randomBytes(32) != randomBytes(32))
    }

    @Test func `the library is OpenSSL 3`() {
        #expect(openSSLVersion().hasPrefix("OpenSSL 3."))
    }
}
