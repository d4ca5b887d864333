@testable import OpenSSL
import Testing

@Suite struct PrivateScalarTests {
    private static func octets(_ secret: SecretBytes) -> [UInt8] {
        secret.withBytes { span in span.indices.map { span[$0] } }
    }

    @Test func `the whole key comes back`() throws {
        for _ in 0..<64 {
            let key = try SigningKey(generating: .ellipticCurve(.p256))
            let scalar = try key.scalar()
            #expect(scalar.count == SigningKey.scalarLength)
            let restored = try SigningKey(scalar: scalar)
            #expect(try restored.publicComponents().map(\.octets) == key.publicComponents().map(\.octets))
            let message = Array("a message".utf8)
            let coordinates = try key.publicComponents().map(\.octets)
            let signature = try restored.sign(message, .ecdsa(.p256))
            #expect(
                try SignatureChecker().isValid(
                    signature.span, of: message.span,
                    by: PublicKey(.ellipticCurve(.p256, x: coordinates[0], y: coordinates[1])), .ecdsa(.p256)))
        }
    }

    /// RFC 6979, appendix A.2.5.
    @Test func `a published key has its published public half`() throws {
        let scalar: [UInt8] = [
            0xc9, 0xaf, 0xa9, 0xd8, 0x45, 0xba, 0x75, 0x16, 0x6b, 0x5c, 0x21, 0x57, 0x67, 0xb1, 0xd6, 0x93, 0x4e, 0x50,
            0xc3, 0xdb, 0x36, 0xe8, 0x9b, 0x12, 0x7b, 0x8a, 0x62, 0x2b, 0x12, 0x0f, 0x67, 0x21,
        ]
        let key = try SigningKey(scalar: try SecretBytes(scalar.span))
        #expect(Self.octets(try key.scalar()) == scalar)
        let x: [UInt8] = [
            0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61, 0xeb, 0x74, 0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49,
            0xb8, 0x92, 0x3b, 0x61, 0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6,
        ]
        #expect(try key.publicComponents()[0].octets == x)
    }

    @Test(arguments: [0, 31, 33]) func `octets of another number are no key`(count: Int) throws {
        #expect(throws: OpenSSLError.self) {
            try SigningKey(scalar: try SecretBytes([UInt8](repeating: 1, count: count).span))
        }
    }

    @Test(arguments: [PublicKeyKind.ellipticCurve(.p384), .edwards(.ed25519)])
    func `keys of other kinds have none`(kind: PublicKeyKind) throws {
        let key = try SigningKey(generating: kind)
        #expect(throws: OpenSSLError.self) { try key.scalar() }
    }
}
