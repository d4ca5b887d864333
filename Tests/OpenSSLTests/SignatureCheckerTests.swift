import OpenSSL
import Testing
import TestSupport

/// A scheme and a matching key.
private struct Signer: Sendable, CustomTestStringConvertible {
    let scheme: SignatureScheme
    let key: TestKey

    var testDescription: String { "\(scheme)" }

    static let all: [Signer] = [
        Signer(scheme: .rsaPKCS1(.bits256), key: .rsa), Signer(scheme: .rsaPKCS1(.bits384), key: .rsa),
        Signer(scheme: .rsaPKCS1(.bits512), key: .rsa), Signer(scheme: .rsaPSS(.bits256), key: .rsa),
        Signer(scheme: .rsaPSS(.bits384), key: .rsa), Signer(scheme: .rsaPSS(.bits512), key: .rsa),
        Signer(scheme: .ecdsa(.p256), key: .p256), Signer(scheme: .ecdsa(.p384), key: .p384),
        Signer(scheme: .ecdsa(.p521), key: .p521), Signer(scheme: .edwards(.ed25519), key: .ed25519),
        Signer(scheme: .edwards(.ed448), key: .ed448),
    ]

    func sign(_ message: [UInt8]) throws -> [UInt8] { try key.signing.sign(message, scheme) }
}

private let message = Array("The quick brown fox jumps over the lazy dog".utf8)

@Suite struct SignatureCheckerTests {
    @Test(arguments: Signer.all)
    private func `what the private half signs, the public half verifies`(signer: Signer) throws {
        let key = signer.key.publicKey()
        let checker = try SignatureChecker()
        for message in [[], [0], message, [UInt8](repeating: 0x2e, count: 20_000)] {
            let signature = try signer.sign(message)
            // Twice: the second check reuses the context of the first.
            #expect(try checker.isValid(signature, of: message, by: key, signer.scheme))
            #expect(try checker.isValid(signature, of: message, by: key, signer.scheme))
        }
    }

    @Test(arguments: Signer.all)
    private func `one bit of the signature decides`(signer: Signer) throws {
        let key = signer.key.publicKey()
        let checker = try SignatureChecker()
        let signature = try signer.sign(message)
        for index in signature.indices {
            let wrong = signature.flippingBit(index * 8 + index % 8)
            #expect(try !checker.isValid(wrong, of: message, by: key, signer.scheme), "octet \(index)")
        }
        #expect(try checker.isValid(signature, of: message, by: key, signer.scheme))
    }

    @Test(arguments: Signer.all)
    private func `one bit of the message decides`(signer: Signer) throws {
        let key = signer.key.publicKey()
        let checker = try SignatureChecker()
        let signature = try signer.sign(message)
        for index in message.indices {
            let wrong = message.flippingBit(index * 8 + index % 8)
            #expect(try !checker.isValid(signature, of: wrong, by: key, signer.scheme), "octet \(index)")
        }
        for wrong in [[], Array(message.dropLast()), Array(message.dropFirst()), message + [0]] {
            #expect(try !checker.isValid(signature, of: wrong, by: key, signer.scheme))
        }
    }

    @Test(arguments: Signer.all)
    private func `a signature has its one length`(signer: Signer) throws {
        let key = signer.key.publicKey()
        let signature = try signer.sign(message)
        let wrong: [[UInt8]] = [
            [], [0], Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature,
            signature + signature, Array(hex(signature).utf8),
        ]
        for wrong in wrong {
            #expect(try !isValid(wrong, of: message, by: key, signer.scheme), "\(wrong.count) octets")
        }
    }

    @Test(arguments: Signer.all)
    private func `constant octets are no signature`(signer: Signer) throws {
        let key = signer.key.publicKey()
        let count = try signer.sign(message).count
        for octet: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
            let wrong = [UInt8](repeating: octet, count: count)
            #expect(try !isValid(wrong, of: message, by: key, signer.scheme), "all \(octet)")
        }
        #expect(try !isValid([UInt8](repeating: 0, count: count - 1) + [1], of: message, by: key, signer.scheme))
    }

    @Test(arguments: Signer.all)
    private func `a signature of one scheme is none of another`(signer: Signer) throws {
        let checker = try SignatureChecker()
        let signature = try signer.sign(message)
        for other in Signer.all where other.scheme != signer.scheme {
            // With the same key, if the schemes differ in kind, and with the key for the other scheme.
            for key in [signer.key, other.key].map({ $0.publicKey() }) {
                #expect(
                    try !checker.isValid(signature, of: message, by: key, other.scheme), "\(other.scheme)")
            }
        }
    }

    @Test(arguments: [
        (TestKey.rsa, TestKey.otherRSA), (.p256, .otherP256), (.ed25519, .otherEd25519),
    ])
    func `another key of the same kind does not verify`(pair: (TestKey, TestKey)) throws {
        let signature = pair.0.sign(message)
        let signer = try #require(Signer.all.first { $0.key === pair.0 })
        #expect(try isValid(signature, of: message, by: pair.0.publicKey(), signer.scheme))
        #expect(try !isValid(signature, of: message, by: pair.1.publicKey(), signer.scheme))
    }

    @Test func `a scheme that does not fit the key can't sign`() {
        for scheme in [.rsaPSS(.bits256), .rsaPKCS1(.bits256), .ecdsa(.p384), .edwards(.ed25519)] as [SignatureScheme] {
            #expect(throws: OpenSSLError.self) { try TestKey.p256.signing.sign(message, scheme) }
        }
    }
}

/// Peculiarities of each family of signatures.
@Suite struct SignatureEncodingTests {
    private static let order = octets(hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    private static let prime = octets(hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")

    @Test func `r and s lie between 0 and the group's order`() throws {
        let key = TestKey.p256.publicKey()
        let good = TestKey.p256.sign(message)
        let (r, s) = (Array(good[..<32]), Array(good[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let most = [UInt8](repeating: 0xff, count: 32)
        var above = Self.order
        above[31] += 1
        for bad in [zero, Self.order, above, Self.prime, most] {
            for signature in [bad + s, r + bad, bad + bad] {
                #expect(try !isValid(signature, of: message, by: key, .ecdsa(.p256)), "\(hex(signature))")
            }
        }
        #expect(try isValid(r + s, of: message, by: key, .ecdsa(.p256)))
        #expect(try !isValid(s + r, of: message, by: key, .ecdsa(.p256)))
    }

    /// RFC 7518 does not require a low s.
    @Test func `the malleable twin of an ECDSA signature verifies`() throws {
        let good = TestKey.p256.sign(message)
        var twin = Array(good[..<32]) + [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(Self.order[index]) - Int(good[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            twin[32 + index] = UInt8(truncatingIfNeeded: difference)
        }
        #expect(twin != good)
        #expect(try isValid(twin, of: message, by: TestKey.p256.publicKey(), .ecdsa(.p256)))
    }

    @Test func `a DER signature is refused, padded to the length of r and s too`() throws {
        let good = TestKey.p256.sign(message)
        func integer(_ octets: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(octets.drop { $0 == 0 })
            let signed = digits[0] & 0x80 == 0 ? digits : [0] + digits
            return [0x02, UInt8(signed.count)] + signed
        }
        let sequence = integer(good[..<32]) + integer(good[32...])
        let der = [0x30, UInt8(sequence.count)] + sequence
        let key = TestKey.p256.publicKey()
        #expect(try !isValid(der, of: message, by: key, .ecdsa(.p256)))
        #expect(try !isValid(Array(der.prefix(64)), of: message, by: key, .ecdsa(.p256)))
        #expect(try !isValid(Array(der.suffix(64)), of: message, by: key, .ecdsa(.p256)))
    }

    /// A number with a leading zero octet is shorter in DER. About one in 128 signatures has one.
    @Test(arguments: [(TestKey.p256, EllipticCurve.p256), (.p384, .p384), (.p521, .p521)])
    func `every ECDSA signature verifies, however short its numbers`(key: TestKey, curve: EllipticCurve) throws {
        let publicKey = key.publicKey()
        let checker = try SignatureChecker()
        let half = curve.coordinateLength
        // P-521 numbers have 521 bits in 66 octets, so the first octet is 0 or 1 anyway.
        let zeros = curve == .p521 ? 2 : 1
        var short = 0
        var message: [UInt8] = []
        while short < 2 {
            message.append(UInt8(short))
            let signature = try key.signing.sign(message, .ecdsa(curve))
            #expect(signature.count == 2 * half)
            let isShort = [signature[..<half], signature[half...]].contains { $0.prefix(zeros).allSatisfy { $0 == 0 } }
            if isShort { short += 1 }
            #expect(try checker.isValid(signature, of: message, by: publicKey, .ecdsa(curve)))
        }
    }

    @Test func `an RSA signature is below the modulus`() throws {
        let modulus = try TestKey.rsa.signing.publicComponents()[0].octets
        let key = TestKey.rsa.publicKey()
        var below = modulus
        below[255] -= 1
        for scheme: SignatureScheme in [.rsaPKCS1(.bits256), .rsaPSS(.bits256)] {
            #expect(try !isValid(modulus, of: message, by: key, scheme))
            #expect(try !isValid(below, of: message, by: key, scheme))
            #expect(try !isValid([UInt8](repeating: 0xff, count: 256), of: message, by: key, scheme))
        }
        // A valid signature plus the modulus represents the same number. It may need one more octet.
        let signature = TestKey.rsa.sign(message)
        var sum = [UInt8](repeating: 0, count: 257)
        var carry = 0
        for index in (0..<256).reversed() {
            let digit = Int(signature[index]) + Int(modulus[index]) + carry
            sum[index + 1] = UInt8(truncatingIfNeeded: digit)
            carry = digit >> 8
        }
        sum[0] = UInt8(carry)
        #expect(try !isValid(sum, of: message, by: key, .rsaPKCS1(.bits256)))
        if carry == 0 { #expect(try !isValid(Array(sum.dropFirst()), of: message, by: key, .rsaPKCS1(.bits256))) }
    }

    @Test func `S of an Ed25519 signature is below the group's order`() throws {
        let order = octets(hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        let good = TestKey.ed25519.sign(message)
        var twin = good
        var carry = 0
        for index in 0..<32 {
            let digit = Int(good[32 + index]) + Int(order[index]) + carry
            twin[32 + index] = UInt8(truncatingIfNeeded: digit)
            carry = digit >> 8
        }
        #expect(carry == 0)
        let key = TestKey.ed25519.publicKey()
        #expect(try isValid(good, of: message, by: key, .edwards(.ed25519)))
        #expect(try !isValid(twin, of: message, by: key, .edwards(.ed25519)))
    }
}

/// The state that a checker keeps between signatures never changes a verdict.
@Suite struct SignatureCheckerMemoryTests {
    @Test func `more keys than it has room for all keep their own verdicts`() throws {
        let checker = try SignatureChecker()
        let pairs = (0..<8).map { TestKey("\($0)", "ES256", .ellipticCurve(.p256)) }
        // Each is a separate key to the checker, which keeps 1024 and as many older ones.
        let publicKeys = (0..<2100).map { pairs[$0 % pairs.count].publicKey() }
        let made = pairs.map { $0.sign(message) }
        let there = Array(publicKeys.indices)
        // On the second pass, each has been evicted before it is used again. On the way back, some are only old.
        for index in there + there + there.reversed() {
            let (own, other) = (made[index % pairs.count], made[(index + 1) % pairs.count])
            #expect(try checker.isValid(own, of: message, by: publicKeys[index], .ecdsa(.p256)), "key \(index)")
            #expect(try !checker.isValid(other, of: message, by: publicKeys[index], .ecdsa(.p256)), "key \(index)")
        }
    }

    @Test func `a key that comes after one that is gone is not taken for it`() throws {
        let checker = try SignatureChecker()
        let old = TestKey("old", "ES256", .ellipticCurve(.p256))
        let new = TestKey("new", "ES256", .ellipticCurve(.p256))
        let signature = old.sign(message)
        for round in 0..<400 {
            // The object lives for this round only, so its address may be reused in the next.
            let isOld = round.isMultiple(of: 2)
            let key = (isOld ? old : new).publicKey()
            #expect(
                try checker.isValid(signature, of: message, by: key, .ecdsa(.p256)) == isOld, "round \(round)")
        }
    }

    @Test func `one key under several schemes keeps them apart`() throws {
        let checker = try SignatureChecker()
        let key = TestKey.rsa.publicKey()
        let signers = Signer.all.filter { $0.key === TestKey.rsa }
        let signatures = try signers.map { try $0.sign(message) }
        for _ in 0..<3 {
            for (index, signature) in signatures.enumerated() {
                for (other, signer) in signers.enumerated() {
                    let verdict = try checker.isValid(signature, of: message, by: key, signer.scheme)
                    #expect(verdict == (index == other), "\(signers[index].scheme) under \(signer.scheme)")
                }
            }
        }
    }

    @Test func `many threads check by one key at once`() async throws {
        let signers = Signer.all
        let keys = signers.map { $0.key.publicKey() }
        let signatures = try signers.map { try $0.sign(message) }
        let verdicts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    guard let checker = try? SignatureChecker() else { return 0 }
                    var good = 0
                    for _ in 0..<20 {
                        for index in signers.indices {
                            let isGood = try? checker.isValid(
                                signatures[index], of: message, by: keys[index], signers[index].scheme)
                            if isGood == true { good += 1 }
                        }
                    }
                    return good
                }
            }
            return await group.reduce(0, +)
        }
        #expect(verdicts == 8 * 20 * signers.count)
    }

    @Test func `what was built for a key goes with the key, and for those in use stays`() throws {
        let checker = try SignatureChecker()
        let scheme = SignatureScheme.ecdsa(.p256)
        let signature = try TestKey.p256.signing.sign(message, scheme)
        let inUse = (0..<20).map { _ in TestKey.p256.publicKey() }
        for _ in 0..<500 {
            let rotated = TestKey.p256.publicKey()
            for key in inUse + [rotated] { #expect(try checker.isValid(signature, of: message, by: key, scheme)) }
        }
        // As many again may have been added since the last sweep.
        #expect(checker.contextCount <= 2 * inUse.count + 2)
        #expect(checker.contextCount >= inUse.count)
    }
}

/// Keys that came with the message.
@Suite struct UnfamiliarKeyTests {
    private func material(_ key: TestKey) throws -> KeyMaterial {
        let components = try key.signing.publicComponents().map(\.octets)
        return switch key.signing.kind {
        case .rsa: try .rsa(modulus: components[0], exponent: components[1])
        case .ellipticCurve(let curve): try .ellipticCurve(curve, x: components[0], y: components[1])
        case .edwards(let curve): try .edwards(curve, point: components[0])
        }
    }

    @Test(arguments: Signer.all)
    private func `only what its own key has signed is valid`(signer: Signer) throws {
        let checker = try SignatureChecker()
        let key = try material(signer.key)
        let signature = try signer.sign(message)
        func verdict(_ signature: [UInt8], _ message: [UInt8]) throws -> UnfamiliarVerdict {
            try checker.verdict(on: signature.span, of: message.span, byUnfamiliar: key, signer.scheme)
        }
        // Twice: on a NIST curve, the second check reuses the context of the first.
        for _ in 0..<2 {
            #expect(try verdict(signature, message) == .valid)
            #expect(try verdict(signature.flippingBit(77), message) == .invalid)
            #expect(try verdict(signature, message + [0]) == .invalid)
            #expect(try verdict(Array(signature.dropLast()), message) == .invalid)
            #expect(try verdict([], message) == .invalid)
        }
        for other in Signer.all where other.scheme != signer.scheme {
            let verdict = try checker.verdict(
                on: signature.span, of: message.span, byUnfamiliar: key, other.scheme)
            #expect(verdict == .invalid, "\(other.scheme)")
        }
        #expect(checker.contextCount == 0)
    }

    @Test func `keys that take turns keep their own verdicts`() throws {
        let checker = try SignatureChecker()
        let keys = (0..<4).map { TestKey("\($0)", "ES256", .ellipticCurve(.p256)) }
        let signatures = keys.map { $0.sign(message) }
        for round in 0..<3 {
            for (signed, signature) in signatures.enumerated() {
                for (other, key) in keys.enumerated() {
                    let verdict = try checker.verdict(
                        on: signature.span, of: message.span, byUnfamiliar: material(key), .ecdsa(.p256))
                    #expect(verdict == (signed == other ? .valid : .invalid), "round \(round)")
                }
            }
        }
    }

    @Test(arguments: [(TestKey.p256, EllipticCurve.p256), (.p384, .p384), (.p521, .p521)], [true, false])
    func `a point off the curve is refused, before and after a good one`(
        pair: (TestKey, EllipticCurve), isFirst: Bool
    ) throws {
        let (key, curve) = pair
        let checker = try SignatureChecker()
        let good = try material(key)
        let signature = try key.signing.sign(message, .ecdsa(curve))
        func verdict(_ material: KeyMaterial) throws -> UnfamiliarVerdict {
            try checker.verdict(on: signature.span, of: message.span, byUnfamiliar: material, .ecdsa(curve))
        }
        if !isFirst { #expect(try verdict(good) == .valid) }
        let point = try key.signing.publicComponents().map(\.octets)
        let zero = [UInt8](repeating: 0, count: curve.coordinateLength)
        let most = [UInt8](repeating: 0xff, count: curve.coordinateLength)
        for (x, y) in [
            (zero, zero), (point[1], point[0]), (most, most), (point[0], most), (point[0].flippingBit(9), point[1]),
            (point[0], point[1].flippingBit(9)),
        ] {
            #expect(try verdict(.ellipticCurve(curve, x: x, y: y)) == .keyMalformed)
            #expect(try verdict(good) == .valid)
        }
    }
}
