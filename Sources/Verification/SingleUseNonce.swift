package import IDToken

/// The nonce of a verified token, for a provider whose nonces are single-use.
package struct SingleUseNonce {
    /// The provider's ID.
    package let provider: String
    /// As in the request.
    package let nonce: String
    package let match: NonceMatch
    /// The forms that the provider's policy accepts.
    package let accepted: [NonceMatch]
    /// The time after which the token is rejected as expired, including clock skew.
    package let expiresAt: UnixTime
}

extension SingleUseNonce {
    /// - Returns: `nil` if the token has no nonce.
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
