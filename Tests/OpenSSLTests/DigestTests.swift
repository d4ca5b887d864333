import OpenSSL
import Testing
import TestSupport

@Suite struct DigestTests {
    /// FIPS 180-4 and FIPS 202 examples: `abc` and the empty string.
    private static let known: [(DigestAlgorithm, String, String)] = [
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha384, "",
            """
            38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b
            """
        ),
        (
            .sha384, "abc",
            """
            cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7
            """
        ),
        (
            .sha512, "",
            """
            cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
            47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e
            """
        ),
        (
            .sha512, "abc",
            """
            ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
            2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
            """
        ),
        (
            .shake256, "",
            """
            46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762fd75dc4ddd8c0f200cb05019d67b592f6\
            fc821c49479ab48640292eacb3b7c4be141e96616fb13957692cc7edd0b45ae3dc07223c8e92937bef84bc0eab862853\
            349ec75546f58fb7c2775c38462c5010d846
            """
        ),
        (
            .shake256, "abc",
            """
            483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739d5a15bef186a5386c75744c0527e1faa\
            9f8726e462a12a4feb06bd8801e751e41385141204f329979fd3047a13c5657724ada64d2470157b3cdc288620944d78\
            dbcddbd912993f0913f164fb2ce95131a2d0
            """
        ),
    ]

    @Test func `digests are the published ones, in any order from one context`() throws {
        let context = try DigestContext()
        for (algorithm, message, expected) in Self.known + Self.known.reversed() {
            let digest = try context.digest(Array(message.utf8).span, with: algorithm)
            #expect(digest.count == algorithm.outputLength)
            #expect(hex(digest) == expected)
        }
    }

    @Test func `a million times a`() throws {
        let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        let digest = try SignatureChecker().withDigest(of: million.span, .sha256) { hash in
            hash.indices.map { hash[$0] }
        }
        #expect(hex(digest) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
