import IDToken
import OpenSSL
@testable import SignIns
import Testing
@testable import Verification

@Suite struct SingleUseNonceTests {
    private func key(
        _ nonce: String, _ match: NonceMatch, among accepted: [NonceMatch], provider: String = "p"
    ) throws -> ClaimKey {
        let nonce = SingleUseNonce(
            provider: provider, nonce: nonce, match: match, accepted: accepted,
            expiresAt: UnixTime(seconds: 1_700_000_000))
        let claim = try nonce.claim(try DigestContext())
        #expect(claim.end == ClaimEnd(after: 1_700_000_000))
        return claim.key
    }

    /// SHA-256 of "abc".
    private static let hexadecimal = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let base64URL = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"

    @Test func `a nonce is the same in every form`() throws {
        let all = NonceMatch.allCases
        let nonce = try key("abc", .plain, among: [.plain])
        for match in all { #expect(try key("abc", match, among: all) == nonce) }
        #expect(try key("abd", .plain, among: [.plain]) != nonce)
        #expect(try key("abc", .plain, among: [.plain], provider: "q") != nonce)
    }

    @Test func `a hash that comes as a plain nonce is what was hashed, where hashes are accepted`() throws {
        let nonce = try key("abc", .sha256Hex, among: [.sha256Hex, .plain])
        #expect(try key(Self.hexadecimal, .plain, among: [.sha256Hex, .plain]) == nonce)
        #expect(try key(Self.base64URL, .plain, among: [.sha256Base64URL, .plain]) == nonce)
        #expect(try key(Self.base64URL, .plain, among: [.sha256Hex, .sha256Base64URL, .plain]) == nonce)
        #expect(try key(Self.hexadecimal, .plain, among: [.plain]) != nonce)
        #expect(try key(Self.hexadecimal, .sha256Hex, among: [.sha256Hex, .plain]) != nonce)
    }
}
