package import IDToken
package import OpenSSL
package import Replay
package import Verification

/// How a DPoP proof is claimed, so that it passes only once.
extension DPoPProof {
    /// The claim that the first request with this proof makes. The same client may use an ID again at another URL.
    ///
    /// - Parameter provider: the ID of the token's provider.
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    /// - Source: RFC 9449, section 11.1.
    package func claim(ofProvider provider: String, _ digests: borrowing DigestContext) throws(Problem) -> Claim {
        do throws(OpenSSLError) {
            let parts = [keyThumbprint, target, identifier].map { Array($0.utf8) }
            return Claim(
                key: try ClaimKey("dpop proof", of: parts, digests), end: ClaimEnd(after: expiresAt.seconds),
                provider: provider)
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
    }

    /// - Parameter outcome: the outcome of its claim.
    /// - Returns: why the token is rejected; `nil` if it is not.
    package static func problem(_ outcome: ClaimOutcome) -> Problem? {
        outcome.problem(ifClaimedBefore: .proofReplayed)
    }
}
