package import IDToken

/// The nonce that a token was verified with, at a provider whose nonces are used once.
package struct SingleUseNonce {
    /// The provider's id.
    package let provider: String
    /// As the request has it.
    package let nonce: String
    package let match: NonceMatch
    /// Every form that the provider's tokens may have.
    package let accepted: [NonceMatch]
    /// When no token of its age passes any more, the clock skew included.
    package let expiresAt: UnixTime
}

extension SingleUseNonce {
    /// - Returns: `nil` where the token has no nonce.
    init?(_ answer: VerifyAnswer, of request: VerifyRequest, under policy: ProviderPolicy) {
        guard let nonce = request.parameters.nonce, let match = answer.token.nonceMatch else { return nil }
        provider = policy.id
        self.nonce = nonce
        self.match = match
        accepted = policy.nonce.accepted
        let tooOld = policy.maximumTokenAgeSeconds.map(answer.token.issuedAt.advanced(bySeconds:))
        let end = min(answer.token.expiresAt, tooOld ?? answer.token.expiresAt)
        expiresAt = end.advanced(bySeconds: policy.clockSkewSeconds)
    }
}
