import OpenSSL
import Testing
import TestSupport

/// Which RSA keys are accepted.
@Suite struct RSAPublicKeyTests {
    private static func modulus(bits: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0xff, count: (bits + 7) / 8)
        octets[0] = 0xff >> UInt8(octets.count * 8 - bits)
        return octets
    }

    private func error(_ modulus: [UInt8], _ exponent: [UInt8]) -> KeyMaterialError? {
        do throws(KeyMaterialError) {
            _ = try PublicKey(.rsa(modulus: modulus, exponent: exponent))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [(2047, KeyMaterialError.tooSmall), (2048, nil), (2049, nil), (8192, nil), (8193, .tooLarge)])
    func `a modulus has 2048 to 8192 bits`(bits: Int, expected: KeyMaterialError?) {
        #expect(error(Self.modulus(bits: bits), [1, 0, 1]) == expected)
    }

    @Test(arguments: [512, 1024, 1536])
    func `a small modulus stays small behind leading zeros`(bits: Int) {
        #expect(error([UInt8](repeating: 0, count: 200) + Self.modulus(bits: bits), [1, 0, 1]) == .tooSmall)
    }

    @Test(arguments: [16_384, 332_192])
    func `a huge modulus is refused before OpenSSL sees it`(bits: Int) {
        #expect(error(Self.modulus(bits: bits), [1, 0, 1]) == .tooLarge)
    }

    @Test func `an even modulus is refused`() {
        var modulus = Self.modulus(bits: 2048)
        modulus[255] = 0xfe
        #expect(error(modulus, [1, 0, 1]) == .malformed)
    }

    @Test(arguments: [
        ([], KeyMaterialError.malformed), ([0], .malformed), ([1], .malformed), ([2], .malformed), ([3], nil),
        ([4], .malformed), ([0, 1], .malformed), ([0, 3], nil), ([1, 0, 0], .malformed), ([1, 0, 1], nil),
        ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], nil),
        ([1, 0, 0, 0, 0, 0, 0, 0, 1], .tooLarge), ([0, 1, 0, 0, 0, 0, 0, 0, 1], nil),
    ])
    func `an exponent is odd, at least 3 and at most 64 bits`(exponent: [UInt8], expected: KeyMaterialError?) {
        #expect(error(Self.modulus(bits: 2048), exponent) == expected)
    }

    @Test(arguments: [[], [0], [0, 0]] as [[UInt8]])
    func `a modulus of nothing is malformed`(modulus: [UInt8]) {
        #expect(error(modulus, [1, 0, 1]) == .malformed)
    }

    @Test func `leading zeros change neither the key nor the length of its signatures`() throws {
        let components = try TestKey.rsa.signing.publicComponents().map(\.octets)
        let padded = try PublicKey(.rsa(modulus: [0, 0] + components[0], exponent: [0] + components[1]))
        #expect(padded.kind == .rsa(modulusLength: 256))
        let message = Array("message".utf8)
        let signature = TestKey.rsa.sign(message)
        #expect(try isValid(signature, of: message, by: padded, .rsaPKCS1(.bits256)))
    }
}

/// Which points on the NIST curves are accepted.
@Suite struct EllipticCurvePublicKeyTests {
    private func isKey(_ curve: EllipticCurve, _ x: [UInt8], _ y: [UInt8]) -> Bool {
        do throws(KeyMaterialError) {
            _ = try PublicKey(.ellipticCurve(curve, x: x, y: y))
            return true
        } catch {
            #expect(error == .malformed)
            return false
        }
    }

    private static let keys = [TestKey.p256, .p384, .p521]

    private func curve(_ key: TestKey) -> EllipticCurve {
        guard case .ellipticCurve(let curve) = key.signing.kind else { preconditionFailure() }
        return curve
    }

    @Test(arguments: 0..<3)
    func `a point off the curve is refused, whichever bit is wrong`(index: Int) throws {
        let key = Self.keys[index]
        let point = try key.signing.publicComponents().map(\.octets)
        #expect(isKey(curve(key), point[0], point[1]))
        for bit in 0..<(point[1].count * 8) {
            #expect(!isKey(curve(key), point[0].flippingBit(bit), point[1]), "bit \(bit) of x")
            #expect(!isKey(curve(key), point[0], point[1].flippingBit(bit)), "bit \(bit) of y")
        }
    }

    @Test(arguments: 0..<3)
    func `a coordinate has its full length, but for zeros before it`(index: Int) throws {
        let key = Self.keys[index]
        let point = try key.signing.publicComponents().map(\.octets)
        let (x, y) = (point[0], point[1])
        #expect(isKey(curve(key), [0] + x, [0, 0] + y))
        #expect(!isKey(curve(key), [1] + x, y))
        #expect(!isKey(curve(key), x + [0], y))
        #expect(!isKey(curve(key), Array(x.dropFirst()), y))
        #expect(!isKey(curve(key), x, Array(y.dropLast())))
        #expect(!isKey(curve(key), [], y))
        #expect(!isKey(curve(key), x, []))
        #expect(!isKey(curve(key), [], []))
    }

    @Test(arguments: EllipticCurve.allCases)
    func `the point at infinity has no coordinates to be written with`(curve: EllipticCurve) {
        let zero = [UInt8](repeating: 0, count: curve.coordinateLength)
        #expect(!isKey(curve, zero, zero))
        #expect(!isKey(curve, [0], [0]))
    }

    @Test func `x is below the field's prime`() {
        // The point (0, √b) of P-256, and the same with p instead of 0.
        let zero = [UInt8](repeating: 0, count: 32)
        let prime = octets(hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let root = octets(hex: "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        #expect(isKey(.p256, zero, root))
        #expect(!isKey(.p256, prime, root))
    }

    @Test func `a point of one curve is none of another`() throws {
        let point = try TestKey.p256.signing.publicComponents().map(\.octets)
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(!isKey(.p384, point[0], point[1]))
        #expect(!isKey(.p384, zeros + point[0], zeros + point[1]))
    }

    @Test func `x and y are not interchangeable`() throws {
        let point = try TestKey.p256.signing.publicComponents().map(\.octets)
        #expect(!isKey(.p256, point[1], point[0]))
    }
}

/// Which encoded points on the Edwards curves are accepted.
@Suite struct EdwardsPublicKeyTests {
    private func isKey(_ curve: EdwardsCurve, _ point: [UInt8]) -> Bool {
        do throws(KeyMaterialError) {
            _ = try PublicKey(.edwards(curve, point: point))
            return true
        } catch {
            #expect(error == .malformed)
            return false
        }
    }

    /// A point from its little-endian y coordinate and the sign bit of x.
    private func point(_ y: [UInt8], _ curve: EdwardsCurve, sign: Bool) -> [UInt8] {
        var point = y + [UInt8](repeating: 0, count: curve.publicKeyLength - y.count)
        if sign { point[point.count - 1] |= 0x80 }
        return point
    }

    @Test(arguments: EdwardsCurve.allCases)
    func `a point has the length of its curve`(curve: EdwardsCurve) throws {
        let key = curve == .ed25519 ? TestKey.ed25519 : .ed448
        let good = try key.signing.publicComponents()[0].octets
        #expect(isKey(curve, good))
        for bad in [[], [0], Array(good.dropFirst()), Array(good.dropLast()), good + [0], [0] + good, [0x40] + good] {
            #expect(!isKey(curve, bad), "\(bad.count) octets")
        }
    }

    @Test(arguments: [false, true])
    func `points of small order on Ed25519 are refused`(sign: Bool) {
        for y in [
            "00", "01",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ] {
            #expect(!isKey(.ed25519, point(octets(hex: y), .ed25519, sign: sign)), "y = \(y)")
        }
    }

    @Test(arguments: [false, true])
    func `points of small order on Ed448 are refused`(sign: Bool) {
        let minusOne = [0xfe] + [UInt8](repeating: 0xff, count: 27) + [0xfe] + [UInt8](repeating: 0xff, count: 27)
        for y in [[0], [1], minusOne] { #expect(!isKey(.ed448, point(y, .ed448, sign: sign))) }
    }

    @Test(arguments: 0..<19, [false, true])
    func `a y at or above 2²⁵⁵ − 19 is not canonical`(above: UInt8, sign: Bool) {
        let y = [0xed + above] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        #expect(!isKey(.ed25519, point(y, .ed25519, sign: sign)))
    }

    @Test func `a y at or above 2⁴⁴⁸ − 2²²⁴ − 1 is not canonical`() {
        let ones = [UInt8](repeating: 0xff, count: 28)
        let prime = ones + [0xfe] + [UInt8](repeating: 0xff, count: 27)
        #expect(!isKey(.ed448, point(prime, .ed448, sign: false)))
        #expect(!isKey(.ed448, point([0] + ones.dropFirst() + ones, .ed448, sign: false)))
        #expect(!isKey(.ed448, point(ones + ones, .ed448, sign: true)))
    }

    @Test func `the last octet of an Ed448 point holds nothing but the sign`() throws {
        let good = try TestKey.ed448.signing.publicComponents()[0].octets
        for bit in 0..<7 { #expect(!isKey(.ed448, good.flippingBit(56 * 8 + bit)), "bit \(bit)") }
    }

    /// OpenSSL decodes the point only when it verifies.
    @Test func `by a y that no point has, nothing verifies`() throws {
        let message = Array("message".utf8)
        for y: UInt8 in [2, 7, 8, 11, 12, 13, 17] {
            let key = try PublicKey(.edwards(.ed25519, point: point([y], .ed25519, sign: false)))
            let signature = TestKey.ed25519.sign(message)
            #expect(try !isValid(signature, of: message, by: key, .edwards(.ed25519)), "Ed25519, y = \(y)")
        }
        for y: UInt8 in [2, 6, 10, 11, 14, 15, 16] {
            let key = try PublicKey(.edwards(.ed448, point: point([y], .ed448, sign: false)))
            let signature = TestKey.ed448.sign(message)
            #expect(try !isValid(signature, of: message, by: key, .edwards(.ed448)), "Ed448, y = \(y)")
        }
    }

    @Test func `a y that points have is a key, with either sign`() {
        for y: UInt8 in [3, 4, 5, 6, 9, 10, 14] {
            #expect(isKey(.ed25519, point([y], .ed25519, sign: false)), "Ed25519, y = \(y)")
            #expect(isKey(.ed25519, point([y], .ed25519, sign: true)), "Ed25519, y = \(y)")
        }
        for y: UInt8 in [3, 4, 5, 7, 8, 9, 12] {
            #expect(isKey(.ed448, point([y], .ed448, sign: false)), "Ed448, y = \(y)")
            #expect(isKey(.ed448, point([y], .ed448, sign: true)), "Ed448, y = \(y)")
        }
    }
}

/// The verdict of a new checker.
func isValid(
    _ signature: [UInt8], of message: [UInt8], by key: PublicKey, _ scheme: SignatureScheme
) throws -> Bool {
    try SignatureChecker().isValid(signature, of: message, by: key, scheme)
}

extension SignatureChecker {
    /// Wraps the call, because spans can't be used inside expectation macros.
    func isValid(
        _ signature: [UInt8], of message: [UInt8], by key: PublicKey, _ scheme: SignatureScheme
    ) throws -> Bool {
        try isValid(signature.span, of: message.span, by: key, scheme)
    }
}
