@testable import OpenSSL
import Testing
import TestSupport

@Suite struct SignatureCacheTests {
    private let key = TestKey.p256.publicKey()
    private let scheme = SignatureScheme.ecdsa(.p256)
    private let signature = [UInt8](repeating: 7, count: 64)

    /// A digest that is unique to a number.
    private func digest(_ number: Int) -> [UInt8] { (0..<32).map { $0 < 8 ? UInt8(number >> (8 * $0) & 255) : 0 } }

    private func insert(_ numbers: some Sequence<Int>, into cache: SignatureCache) {
        for number in numbers { cache.insert(signature.span, of: digest(number).span, key, scheme) }
    }

    private func knows(_ cache: SignatureCache, _ number: Int) -> Bool {
        cache.contains(signature.span, of: digest(number).span, key, scheme)
    }

    @Test func `what was found valid is known, and nothing that differs in anything`() {
        let cache = SignatureCache(capacity: 10)
        let before = knows(cache, 1)
        insert([1], into: cache)
        let after = knows(cache, 1)
        #expect(!before && after)
        func isKnown(
            _ signature: [UInt8], of hash: [UInt8], by other: PublicKey? = nil, _ otherScheme: SignatureScheme? = nil
        ) -> Bool {
            cache.contains(signature.span, of: hash.span, other ?? key, otherScheme ?? scheme)
        }
        let hash = digest(1)
        let wrongSignatures = (0..<(64 * 8)).map { signature.flippingBit($0) } + [signature.dropLast(), []]
        for wrong in wrongSignatures {
            let isKnown = isKnown(wrong, of: hash)
            #expect(!isKnown)
        }
        // The first octets of a digest locate its entry; the others are compared.
        for wrong in (0..<(32 * 8)).map({ hash.flippingBit($0) }) {
            let isKnown = isKnown(signature, of: wrong)
            #expect(!isKnown)
        }
        let shifted = isKnown(hash.suffix(1) + signature, of: hash.dropLast())
        #expect(!shifted)
        let byOtherScheme = isKnown(signature, of: hash, .ecdsa(.p384))
        #expect(!byOtherScheme)
        let byOtherKey = isKnown(signature, of: hash, by: TestKey.p256.publicKey())
        #expect(!byOtherKey)
    }

    @Test func `a cache of no size knows nothing`() {
        let cache = SignatureCache(capacity: 0)
        insert(0..<10, into: cache)
        #expect(cache.count == 0)
        let isKnown = knows(cache, 9)
        #expect(!isKnown)
    }

    @Test(arguments: [1, 2, 7, 100])
    func `there are never more than the capacity, and the last half is always known`(capacity: Int) {
        let cache = SignatureCache(capacity: capacity)
        for number in 0..<1000 {
            insert([number], into: cache)
            #expect(cache.count <= capacity + 1)
            for recent in max(0, number + 1 - max(capacity / 2, 1))...number {
                let isKnown = knows(cache, recent)
                #expect(isKnown, "\(recent) after \(number)")
            }
        }
        let isFirstKnown = knows(cache, 0)
        #expect(!isFirstKnown)
    }

    @Test func `what is asked for again stays, whatever else comes`() {
        let cache = SignatureCache(capacity: 10)
        insert([0], into: cache)
        for number in 1..<200 {
            insert([number], into: cache)
            let isKnown = knows(cache, 0)
            #expect(isKnown, "after \(number)")
        }
    }

    @Test(arguments: [
        (TestKey.rsa, SignatureScheme.rsaPKCS1(.bits256)), (.rsa, .rsaPSS(.bits512)), (.p256, .ecdsa(.p256)),
        (.p521, .ecdsa(.p521)), (.ed25519, .edwards(.ed25519)), (.ed448, .edwards(.ed448)),
    ])
    func `a checker that remembers gives every verdict that one gives that doesn't`(
        signer: TestKey, scheme: SignatureScheme
    ) throws {
        let checker = try SignatureChecker(signatureCacheCapacity: 4)
        let (key, message) = (signer.publicKey(), Array("a signed message".utf8))
        let signature = try signer.signing.sign(message, scheme)
        for _ in 0..<3 { #expect(try checker.isValid(signature, of: message, by: key, scheme)) }
        for bit in stride(from: 0, to: message.count * 8, by: 7) {
            #expect(try !checker.isValid(signature, of: message.flippingBit(bit), by: key, scheme))
        }
        for bit in stride(from: 0, to: signature.count * 8, by: 13) {
            let wrong = signature.flippingBit(bit)
            // Twice, because a rejection must not be cached as a success.
            for _ in 0..<2 { #expect(try !checker.isValid(wrong, of: message, by: key, scheme)) }
        }
        // The same key, decoded again, has to verify the signature itself.
        #expect(try checker.isValid(signature, of: message, by: signer.publicKey(), scheme))
    }
}
