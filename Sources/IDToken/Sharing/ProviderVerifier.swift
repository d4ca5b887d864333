public import JOSE

/// Verifies the ID Tokens of one provider, from any thread or task.
///
/// Make one for each provider, and share it:
///
/// ```swift
/// let policy = ProviderPreset.apple.policy(id: "apple", audiences: ["com.example.app"])
/// let verifier = try ProviderVerifier(policy)
/// let verified = try verifier.verify(
///     token, with: keys, expecting: VerificationParameters(nonce: rawNonce), now: now)
/// print(verified.identity.subject)
/// ```
///
/// It does no I/O and reads no clock. A verification doesn't wait for another one: each borrows one of the
/// ``IDTokenVerifier``s that belong to this verifier, and there are as many as verifications have run at the same time.
public final class ProviderVerifier: SharedVerifier {
    /// The rules for the provider's tokens.
    public let policy: ProviderPolicy
    package let verifiers: VerifierPool
    package var provider: ProviderPolicy { policy }

    /// - Parameters:
    ///   - policy: what the provider's tokens must satisfy; see ``ProviderPreset/policy(id:issuer:audiences:arguments:)``.
    ///   - signatureCacheCapacity: how many valid signatures each ``IDTokenVerifier`` remembers, so that the signature
    ///     of a repeated token is not verified again; 0 disables the cache. All other checks are made every time.
    ///   - maximumTokenLength: the length of the longest token that is read, in bytes.
    /// - Throws: ``Rejection/cryptographyUnavailable`` when out of memory.
    public init(
        _ policy: ProviderPolicy, signatureCacheCapacity: Int = 0,
        maximumTokenLength: Int = UnverifiedToken.maximumLength
    ) throws(Rejection) {
        self.policy = policy
        verifiers = try VerifierPool(
            signatureCacheCapacity: signatureCacheCapacity, maximumTokenLength: maximumTokenLength)
    }

    /// Verifies a token: its form, header, algorithm, key, signature, then every claim. Throws at the first check that
    /// fails.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - parameters: what the relying party knows about this sign-in.
    ///   - now: the current time, for checks of the token's times.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 8725.
    public func verify(
        _ token: String, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: VerificationParameters = VerificationParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try verify(text: token, with: keys, algorithms: algorithms, expecting: parameters, now: now)
    }

    /// Verifies a token that was read before, for example to find its provider by
    /// ``UnverifiedToken/unverifiedIssuer``; otherwise like ``verify(_:with:algorithms:expecting:now:)-(String,_,_,_,_)``.
    ///
    /// - Throws: ``Rejection``.
    public func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms = .all,
        expecting parameters: VerificationParameters = VerificationParameters(), now: UnixTime
    ) throws(Rejection) -> VerifiedIDToken {
        try withVerifier { verifier throws(Rejection) in
            try verify(
                token, with: keys, algorithms: algorithms, expecting: parameters, now: now, by: verifier)
        }
    }

    /// Reads a token without verifying anything.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    public func read(_ token: String) throws(Rejection) -> UnverifiedToken {
        try withVerifier { verifier throws(Rejection) in try verifier.read(Array(token.utf8)[...]) }
    }

    package func verify(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms,
        expecting parameters: VerificationParameters, now: UnixTime, by verifier: IDTokenVerifier
    ) throws(Rejection) -> VerifiedIDToken {
        try verifier.verify(
            token, with: keys, algorithms: algorithms, under: policy, expecting: parameters, now: now)
    }

    package func checkHeader(_ token: UnverifiedToken, by verifier: IDTokenVerifier) throws(Rejection) {
        try verifier.checkHeader(token, under: policy)
    }

    package func checkClaims(_ token: UnverifiedToken, now: UnixTime) throws(Rejection) {
        try token.checkClaims(of: policy, now: now)
    }
}
