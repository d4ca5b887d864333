private import Bytes
private import IDToken
private import JOSE
package import OpenSSL
package import Replay
package import Verification

/// How a backend's own nonce is claimed.
extension SingleUseNonce {
    /// The claim that the first request with this nonce makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        do throws(OpenSSLError) {
            var digest = writtenDigest
            if digest == nil { digest = try digests.digest(Array(nonce.utf8).span, with: .sha256) }
            return Claim(
                key: try ClaimKey("nonce", of: [Array(provider.utf8), digest ?? []], digests),
                end: ClaimEnd(after: expiresAt.seconds), provider: provider)
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
    }

    /// The digest that the nonce encodes, if the provider accepts both plain and hashed nonces. An attacker who has
    /// only a token can send the hash in it as a plain nonce. Both forms must then make the same claim.
    private var writtenDigest: [UInt8]? {
        guard match == .plain else { return nil }
        var digest: [UInt8]?
        if accepted.contains(.sha256Hex) { digest = [UInt8](hexadecimal: nonce) }
        if digest?.count != 32, accepted.contains(.sha256Base64URL) {
            digest = Base64URL.decode(Array(nonce.utf8).span)
        }
        return digest?.count == 32 ? digest : nil
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Returns: why the token is rejected; `nil` if it is not.
    package func problem(_ outcome: ClaimOutcome) -> Problem? { outcome.problem(ifClaimedBefore: .nonceReplayed) }
}
