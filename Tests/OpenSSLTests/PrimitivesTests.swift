import OpenSSL
import TestSupport
import Testing

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

    @Test func `random octets are as many as asked for, and others each time`() throws {
        for count in [0, 1, 16, 1000] { #expect(try randomBytes(count).count == count) }
        #expect(try randomBytes(32) != randomBytes(32))
    }

    @Test func `the library is OpenSSL 3`() {
        #expect(openSSLVersion().hasPrefix("OpenSSL 3."))
    }
}
